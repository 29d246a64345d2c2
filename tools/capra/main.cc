// The driver: parse, run, and turn what went wrong into a message and an exit code.
#include <cstdio>
#include <exception>

#include "capra/base/diagnostic.h"
#include "tools/capra/cli.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"

namespace {

using capra::driver::kBad;
using capra::driver::kInternal;

int report(const capra::Diagnostic& diagnostic) {
  std::fputs((capra::to_text(diagnostic) + "\n").c_str(), stderr);
  if (!diagnostic.internal) return kBad;
  std::fputs("  this is a bug: please report it with the command and its input\n", stderr);
  return kInternal;
}

}  // namespace

int main(int argc, char** argv) {
  capra::driver::install_signal_handlers();
  try {
    auto command = capra::driver::parse_command_line(argc, argv);
    if (!command.ok()) return report(command.error());
    const auto code = (*command)();
    return code.ok() ? *code : report(code.error());
  } catch (const capra::Error& error) {
    return report(error.diagnostic());
  } catch (const std::bad_alloc&) {
    return report({"out-of-memory", "there is not enough memory for this request", "capra",
                   "give a smaller input, --token-budget or --max-length"});
  } catch (const std::exception& exception) {
    return report({.code = "unexpected-exception", .message = exception.what(), .internal = true});
  }
}
