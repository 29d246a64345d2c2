// The files of an exported program.
#include "capra/targets/stablehlo/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "capra/io/archive_index.h"
#include "capra/io/safetensors.h"
#include "capra/targets/stablehlo/embed/embed_script.h"
#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/irpa.h"

namespace capra::stablehlo {
namespace {

constexpr const char* kFlagsFile = "iree.flags";

Result<bool> may_use_chlo(const Target& target, const WriteOptions& options) {
  for (const std::string& name : options.without) {
    if (name == "chlo") continue;
    return fail("option-invalid",
                fmt::format("programs of target {} know no extension '{}'", target.name, name), {},
                "chlo is the one that can be left out");
  }
  return options.without.empty();
}

Status check_no_samples(const Target& target, const WriteOptions& options) {
  if (options.calibration.empty()) return {};
  return fail("option-invalid",
              fmt::format("programs of target {} have the numbers of the graph, which no samples "
                          "choose",
                          target.name),
              "--calibrate", "leave it out");
}

// The forms of archives, the usual one first.
struct ArchiveForm {
  std::string_view name;
  const char* file;
};
constexpr ArchiveForm kArchiveForms[] = {{"irpa", kArchiveFile},
                                         {"safetensors", "model.safetensors"}};

Result<ArchiveForm> find_archive_form(const std::string& name) {
  if (name.empty()) return kArchiveForms[0];
  for (const ArchiveForm& form : kArchiveForms) {
    if (form.name == name) return form;
  }
  return fail("option-invalid", "there is no form of archives '" + name + "'", "--weights",
              "use irpa or safetensors");
}

// The data beside the program; an archive that knows no shapes has a file that does.
Status write_archive(const ArchiveForm& form, std::span<const Global> globals,
                     const Parameters& parameters, NewFolder& folder) {
  constexpr const char* kHolds = "the parameters";
  const std::string path = folder.file(form.file);
  if (form.name == "safetensors") {
    std::map<std::string, TensorSource> tensors;
    for (const Global& global : globals) {
      const auto data = [&global, &parameters] { return global_data(global, parameters); };
      tensors.emplace(global.key, TensorSource{global.type, data});
    }
    CAPRA_ASSIGN(FileDigest digest, write_safetensors_of(path, tensors));
    folder.list(form.file, kHolds, std::move(digest));
    return {};
  }
  ArchiveIndex index;
  CAPRA_ASSIGN(index.archive, write_irpa(path, globals, parameters));
  folder.list(form.file, kHolds, index.archive);
  for (const Global& global : globals) index.parameters.emplace(global.key, global.type);
  return folder.write(archive_index_path(form.file),
                      "dtypes and shapes of the parameters, which the archive does not know",
                      archive_index_text(index));
}

// An input of ones as the runner takes it, a few for every extent that is not fixed.
std::string example_input(const TensorType& type) {
  return fmt::format(" --input={}=1", extents_text(type, "3"));
}

std::vector<std::string> run_lines(const Module& module, const std::string& name,
                                   const WrittenProgram& written) {
  // A pass may put others before it.
  const Function& function = *std::ranges::find(module.functions, name, &Function::name);
  std::string run = fmt::format(
      "iree-run-module --module=model.vmfb --device=local-task --function={}", function.name);
  if (!written.archive.empty()) {
    run += fmt::format(" --parameters={}={}", written.archive_scope, written.archive);
  }
  for (const Argument& argument : function.arguments) run += example_input(argument.type);
  return {fmt::format("iree-compile $(cat {}) {} -o model.vmfb", kFlagsFile, kProgramFile), run};
}

}  // namespace

Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder) {
  WrittenProgram written;
  CAPRA_TRY(check_no_samples(target, options));
  CAPRA_ASSIGN(const bool chlo, may_use_chlo(target, options));
  CAPRA_ASSIGN(const ArchiveForm form, find_archive_form(options.archive));
  CAPRA_ASSIGN(const Module module, emit(graph, parameters,
                                         {.target = &target,
                                          .keep_fused = options.keep_fused,
                                          .external_from = options.constants->external_from,
                                          .scope = kArchiveScope,
                                          .chlo = chlo,
                                          .report = &written.passes,
                                          .approximations = &written.approximations,
                                          .kept = &written.kept,
                                          .verify_each = options.verify_each}));
  CAPRA_TRY(folder.write(kProgramFile, "the program", print_module(module)));
  if (!module.globals.empty()) {
    CAPRA_TRY(write_archive(form, module.globals, parameters, folder));
    written.archive = form.file;
    written.archive_scope = kArchiveScope;
  }
  written.flags = options.flags;
  CAPRA_TRY(folder.write(kFlagsFile, "options of the compiler",
                         fmt::format("{}\n", fmt::join(written.flags, "\n"))));
  for (const Global& global : module.globals) {
    written.parameters.push_back({global.key, global.type});
  }
  written.run = run_lines(module, graph.name(), written);
  written.run_note =
      "The commands above give every input ones; an array is given as\n`--input=@x.npy`.\n";
  written.embed_script = kEmbedScript;
  return written;
}

}  // namespace capra::stablehlo
