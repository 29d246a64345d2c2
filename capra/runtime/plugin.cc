// Loading a plugin: find the function, compare the identities, and only then look at the targets.
#include "capra/runtime/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace capra {
namespace {

constexpr const char* kEntry = "capra_plugin";
constexpr const char* kRebuild =
    "build the plugin again, with the compiler and the installed package of the capra that loads "
    "it";

std::string_view text_of(const char* text) { return text == nullptr ? "nothing" : text; }

Failure differs(const char* code, std::string_view what, std::string_view of_plugin,
                std::string_view of_library, const std::string& path) {
  return fail(
      code,
      fmt::format("the plugin was built for {} {}, this capra is {}", what, of_plugin, of_library),
      path, kRebuild);
}

Status check_identity(const Plugin* plugin, const std::string& path) {
  if (plugin == nullptr || plugin->magic != Plugin::kMagic) {
    return fail(
        "plugin-magic",
        plugin == nullptr
            ? fmt::format("{} gave nothing", kEntry)
            : fmt::format("what {} gave starts with {:#018x}, a plugin starts with {:#018x}",
                          kEntry, plugin->magic, Plugin::kMagic),
        path, "return the address of a capra::Plugin whose first fields are left as they are");
  }
  const Plugin own;
  if (text_of(plugin->version) != own.version) {
    return differs("plugin-version", "version", text_of(plugin->version), own.version, path);
  }
  if (text_of(plugin->compiler) != own.compiler) {
    return differs("plugin-compiler", "compiler", text_of(plugin->compiler), own.compiler, path);
  }
  if (plugin->op_table_hash != own.op_table_hash) {
    return differs("plugin-op-table", "op table", fmt::format("{:016x}", plugin->op_table_hash),
                   fmt::format("{:016x}", own.op_table_hash), path);
  }
  return {};
}

// Whether the loader would find less than the file's own header says, which it maps and does not
// check. Anything that is no such file is the loader's to refuse.
bool is_cut_short(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Elf64_Ehdr header{};
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  const bool is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64 &&
                      header.e_phentsize == sizeof(Elf64_Phdr);
  if (!is_elf) return false;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return true;
    const bool fits = segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset;
    if (segment.p_type == PT_LOAD && !fits) return true;
  }
  return false;
}

Failure entry_failed(std::string_view what, const std::string& path) {
  return fail("plugin-failed", fmt::format("{} threw an exception: {}", kEntry, what), path,
              "return the plugin, and let no exception leave it");
}

Result<const Plugin*> call_entry(void* entry, const std::string& path) {
  try {
    return reinterpret_cast<const Plugin* (*)()>(entry)();
  } catch (const std::exception& exception) {
    return entry_failed(exception.what(), path);
  } catch (...) {
    return entry_failed("it has no words", path);
  }
}

// What names stand in: lines of text, options of the command line, names of files.
bool is_plain_word(std::string_view name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && static_cast<unsigned char>(name[0]) < 0x80 &&
         std::isalnum(static_cast<unsigned char>(name[0])) != 0 &&
         std::ranges::all_of(name, is_plain);
}

// The name as it can be shown in one line.
std::string shown(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return text;
}

Status check_target(const Target* target, const std::string& path) {
  if (target == nullptr) {
    return fail("target-invalid", "the plugin has a null pointer among its targets", path,
                "list the addresses of targets, and as many as there are");
  }
  if (!is_plain_word(target->name)) {
    return fail("target-invalid",
                target->name.empty()
                    ? "a target of the plugin has no name"
                    : fmt::format("'{}' is no name of a target", shown(target->name)),
                path, "a name is a letter or digit, then letters, digits, '-', '_' and '.'");
  }
  int left = 64;
  for (const Target* base = target; base != nullptr; base = base->base) {
    if (--left >= 0) continue;
    return fail("target-invalid",
                fmt::format("the bases of target '{}' lead back to themselves", target->name), path,
                "let 'base' name a target that is no variant of this one");
  }
  return {};
}

Result<TargetSet> targets_of(void* library, const std::string& path) {
  void* const entry = dlsym(library, kEntry);
  if (entry == nullptr) {
    return fail("plugin-entry-missing", fmt::format("the library has no function {}", kEntry), path,
                fmt::format("a plugin defines extern \"C\" const capra::Plugin* {}()", kEntry));
  }
  CAPRA_ASSIGN(const Plugin* plugin, call_entry(entry, path));
  CAPRA_TRY(check_identity(plugin, path));
  const TargetSet targets = plugin->targets;
  if (targets.data() == nullptr) return TargetSet();
  for (const Target* target : targets) CAPRA_TRY(check_target(target, path));
  return targets;
}

}  // namespace

Result<TargetSet> load_plugin(const std::string& path) {
  std::error_code error;
  const std::filesystem::path place = std::filesystem::absolute(path, error);
  if (error || !std::filesystem::exists(place, error)) {
    return fail("file-not-found", "there is no such file", path,
                "give the path of a shared library");
  }
  if (is_cut_short(place)) {
    return fail("plugin-not-loadable", "the file ends before what its header says it holds", path,
                "build or copy the file again");
  }
  // A name with a slash is a place: nothing is searched for.
  void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return fail("plugin-not-loadable",
                fmt::format("the file cannot be loaded as a shared library: {}", text_of(reason)),
                path, "give a shared library; where it lacks a symbol of capra, build it again");
  }
  Result<TargetSet> targets = targets_of(library, path);
  if (!targets.ok()) dlclose(library);
  return targets;
}

Result<std::vector<const Target*>> with_plugins(TargetSet targets,
                                                std::span<const std::string> plugins) {
  std::vector<const Target*> all(targets.begin(), targets.end());
  for (const std::string& path : plugins) {
    CAPRA_ASSIGN(const TargetSet brought, load_plugin(path));
    for (const Target* target : brought) {
      if (std::ranges::find(all, target->name, &Target::name) != all.end()) {
        return fail("target-name-taken",
                    fmt::format("there is a target called '{}' already", target->name), path,
                    "give the plugin once, and a name to its target that no other has");
      }
      all.push_back(target);
    }
  }
  std::ranges::sort(all, {}, &Target::name);
  return all;
}

}  // namespace capra
