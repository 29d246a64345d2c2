// The files of an exported program.
#include "capra/targets/stablehlo/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
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

// The runtime's reader compares the bytes of the header, in which JSON escapes these.
Status check_plain_key(const std::string& key) {
  const auto is_escaped = [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; };
  if (std::ranges::none_of(key, is_escaped)) return {};
  return fail("archive-key-escaped",
              "the name of a parameter has quotes, backslashes or control characters in it, which "
              "the runtime does not find in a safetensors file",
              key, "leave --weights out, or use --weights irpa");
}

// The data beside the program; an archive that knows no shapes has a file that does.
Status write_archive(const ArchiveForm& form, std::span<const Global> globals,
                     const Parameters& parameters, NewFolder& folder) {
  constexpr const char* kHolds = "the parameters";
  const std::string path = folder.file(form.file);
  if (form.name == "safetensors") {
    std::map<std::string, TensorSource> tensors;
    for (const Global& global : globals) {
      CAPRA_TRY(check_plain_key(global.key));
      const auto data = [&global, &parameters] { return global_data(global, parameters); };
      tensors.emplace(global.key, TensorSource{global.type, data});
      // The format has one tensor for each range of bytes.
      for (const std::string& key : global.equal_keys) {
        CAPRA_TRY(check_plain_key(key));
        tensors.emplace(key, TensorSource{global.type, data});
      }
    }
    CAPRA_ASSIGN(FileDigest digest, write_safetensors_of(path, tensors));
    folder.list(form.file, kHolds, std::move(digest));
    return {};
  }
  ArchiveIndex index;
  CAPRA_ASSIGN(index.archive, write_irpa(path, globals, parameters));
  folder.list(form.file, kHolds, index.archive);
  for (const Global& global : globals) {
    index.parameters.emplace(global.key, global.type);
    for (const std::string& key : global.equal_keys) index.parameters.emplace(key, global.type);
  }
  return folder.write(archive_index_path(form.file),
                      "dtypes and shapes of the parameters, which the archive does not know",
                      archive_index_text(index));
}

// An input of ones as the runner takes it, a few for every extent that is not fixed; where there is
// no element it takes none.
std::string example_input(const TensorType& type) {
  std::string text = " --input=";
  bool is_empty = false;
  for (const Dim& dim : type.shape.dims()) {
    text += fmt::format("{}x", dim.is_static() ? dim.size() : 3);
    is_empty = is_empty || (dim.is_static() && dim.size() == 0);
  }
  text += runner_dtype_text(type.dtype);
  return is_empty ? text : text + "=1";
}

// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  if (is_shell_word(text)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// What a file of text, a shell and a runner can call it by.
Status check_callable(const Graph& graph) {
  constexpr const char* kHelp = "give the graph a name and outputs";
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  const std::string& name = graph.name();
  if (name.empty()) return fail("graph-not-callable", "the graph has no name", "graph", kHelp);
  if (std::ranges::any_of(name, is_control)) {
    return fail("graph-not-callable", "the graph's name has control characters in it", "graph",
                "take them out of the name");
  }
  if (!graph.outputs().empty()) return {};
  return fail("graph-not-callable", "the graph has no outputs", name, kHelp);
}

std::vector<std::string> run_lines(const Module& module, const std::string& name,
                                   const WrittenProgram& written) {
  // A pass may put others before it.
  const Function& function = *std::ranges::find(module.functions, name, &Function::name);
  std::string run =
      fmt::format("iree-run-module --module=model.vmfb --device=local-task --function={}",
                  shell_word(function.name));
  if (!written.archive.empty()) {
    run += fmt::format(" --parameters={}={}", written.archive_scope, written.archive);
  }
  for (const Argument& argument : function.arguments) run += example_input(argument.type);
  return {fmt::format("iree-compile $(cat {}) {} -o model.vmfb", kFlagsFile, kProgramFile), run};
}

}  // namespace

bool is_shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    constexpr std::string_view kOthers = "%+,-./:=@_";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, is_plain);
}

std::string runner_dtype_text(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return "f64";
    case DType::F32:
      return "f32";
    case DType::F16:
      return "f16";
    case DType::BF16:
      return "bf16";
    default:
      return fmt::format("i{}", 8 * dtype_bytes(dtype));
  }
}

Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder) {
  CAPRA_TRY(check_callable(graph));
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
                                          .computed = &written.computed,
                                          .verify_each = options.verify_each,
                                          .program_passes = options.program_passes}));
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
    for (const std::string& key : global.equal_keys) {
      written.equal_parameters.push_back({{key, global.type}, global.key});
    }
  }
  written.run = run_lines(module, graph.name(), written);
  written.run_note =
      "The commands above give every input ones; an array is given as\n`--input=@x.npy`.\n";
  written.embed_script = kEmbedScript;
  return written;
}

}  // namespace capra::stablehlo
