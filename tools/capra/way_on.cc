// By the code of the failure.
#include "tools/capra/way_on.h"

#include <string_view>
#include <utility>

#include "capra/runtime/target.h"
#include "capra/targets/all_targets.h"

namespace capra::driver {
namespace {

bool derives_from(const Target* target, std::string_view name) {
  while (target != nullptr && target->name != name) target = target->base;
  return target != nullptr;
}

// Targets that run what `writer` writes, as words in front of a help.
std::string runners_of(std::string_view writer) {
  std::string names;
  for (const Target* target : all_targets()) {
    if (!derives_from(target, writer) || resolved(*target).compile == nullptr) continue;
    names.append(names.empty() ? "" : ", ").append(target->name);
  }
  return names.empty() ? names : "--target " + names + " runs these programs; or ";
}

bool is_for_graphs_alone(std::string_view name) {
  for (const Target* target : all_targets()) {
    if (target->name == name) return derives_from(target, "ga2");
  }
  return false;
}

bool takes(const AskedFor& asked, const char* option) { return asked.options.contains(option); }

std::string given(const AskedFor& asked, const char* option) {
  const auto found = asked.options.find(option);
  return found == asked.options.end() ? "" : found->second;
}

// A command that takes a model folder alone.
bool is_for_models(const AskedFor& asked) {
  return takes(asked, "model") && takes(asked, "--token-budget") && !takes(asked, "--stage");
}

}  // namespace

Diagnostic with_way_on(Diagnostic found, const AskedFor& asked) {
  if (found.at.empty()) found.at = asked.place;
  if (found.code == "target-unknown" && takes(asked, "--plugin") &&
      given(asked, "--plugin").empty()) {
    found.help += "; a plugin's target needs --plugin FILE";
  } else if (found.code == "target-not-executable") {
    found.help.insert(0, runners_of(given(asked, "--target")));
  } else if (found.code == "parameter-missing" && takes(asked, "--parameters") &&
             given(asked, "--check").empty()) {
    found.help = "give --parameters FILE (safetensors) with a tensor of this name";
  } else if (found.code == "op-not-legal" && is_for_models(asked) &&
             is_for_graphs_alone(given(asked, "--target"))) {
    found.help = "ga2 runs graphs of matrices: capra run FILE.tir --target ga2";
  } else if (found.help.empty()) {
    found.help = "see 'capra explain " + found.code + "'";
  }
  return found;
}

Command with_place(AskedFor asked, Command run) {
  return [asked = std::move(asked), run = std::move(run)]() -> Result<int> {
    Result<int> code = run();
    if (code.ok()) return code;
    return fail(with_way_on(code.error(), asked));
  };
}

}  // namespace capra::driver
