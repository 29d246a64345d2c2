// Targets from outside: a shared library with one function, checked before anything in it is used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capra/base/result.h"
#include "capra/runtime/plugin_id.h"
#include "capra/runtime/target.h"

namespace capra {

/// What a plugin gives: the identity of its build, then its targets. The fields up to the hash keep
/// their places in all versions; what follows is read only after they were found equal.
///
///     extern "C" const capra::Plugin* capra_plugin() {
///       static const capra::Target* const kTargets[] = {&kMyTarget};
///       static const capra::Plugin kPlugin{.targets = kTargets};
///       return &kPlugin;
///     }
struct Plugin {
  static constexpr std::uint64_t kMagic = 0x4e49'4755'4c50'4143;  ///< "CAPLUGIN" in memory order

  std::uint64_t magic = kMagic;
  const char* version = plugin_id::kVersion;
  const char* compiler = plugin_id::kCompiler;
  std::uint64_t op_table_hash = plugin_id::kOpTableHash;

  TargetSet targets = {};
};

/// Loads the shared library at `path` and returns the targets it brings. It stays loaded until the
/// process ends, because records are known by their address. Fails with `file-not-found`,
/// `plugin-not-loadable` (no shared library, or one that needs what is not here),
/// `plugin-entry-missing`, `plugin-failed` (its function threw), `plugin-magic`, `plugin-version`,
/// `plugin-compiler` or `plugin-op-table`, the last three of which say both values; and with
/// `target-invalid` for a null pointer in the list, a name that is no plain word, or bases that
/// lead back to themselves.
Result<TargetSet> load_plugin(const std::string& path);

/// `targets` and those of the plugins, sorted by name. Fails as `load_plugin` does, and with
/// `target-name-taken` where two targets have one name.
Result<std::vector<const Target*>> with_plugins(TargetSet targets,
                                                std::span<const std::string> plugins);

}  // namespace capra
