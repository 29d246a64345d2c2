// Plugins whose target, RECORD from the build, is not what a target must be.
#include <stdexcept>

#include "capra/runtime/plugin.h"

namespace {

using namespace capra;

using Compiled = Result<std::unique_ptr<Executable>>;

Compiled nothing(const Target&, const Graph&, const Parameters&, const CompileOptions&) {
  return std::unique_ptr<Executable>();
}

Compiled throwing(const Target&, const Graph&, const Parameters&, const CompileOptions&) {
  throw std::runtime_error("the device is on fire");
}

Availability no_word(const ToolOptions&) { throw 1; }

[[maybe_unused]] const Target* thrown() { throw std::runtime_error("no device"); }

[[maybe_unused]] constinit const Target kNoName{};
[[maybe_unused]] constinit const Target kOddName{.name = "x\n<b>\xff", .summary = "Not right."};
extern const Target kOwnBase;
[[maybe_unused]] constinit const Target kOwnBase{
    .name = "own-base", .summary = "Not right.", .base = &kOwnBase};
extern const Target kSecond;
[[maybe_unused]] constinit const Target kFirst{
    .name = "first", .summary = "Not right.", .base = &kSecond};
constinit const Target kSecond{.name = "second", .summary = "Not right.", .base = &kFirst};
[[maybe_unused]] constinit const Target kNoExecutable{
    .name = "no-executable", .summary = "Not right.", .compile = nothing};
[[maybe_unused]] constinit const Target kThrows{
    .name = "throws", .summary = "Not right.", .availability = no_word, .compile = throwing};

}  // namespace

extern "C" const capra::Plugin* capra_plugin() {
  static const Target* const kTargets[] = {RECORD};
  static const Plugin kPlugin{.targets = kTargets};
  return &kPlugin;
}
