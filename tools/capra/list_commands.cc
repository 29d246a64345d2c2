// capra ops, targets, docs and explain: what exists.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "capra/base/diagnostic.h"
#include "capra/base/nearest_name.h"
#include "capra/io/json.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/op_docs.h"
#include "capra/runtime/plugin.h"
#include "capra/targets/all_targets.h"
#include "tools/capra/command.h"
#include "tools/capra/command_entry.h"
#include "tools/capra/conformance.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

std::vector<DocTarget> doc_targets() {
  std::vector<DocTarget> targets;
  for (const Target* target : all_targets()) {
    if (target->base != nullptr && target->table == nullptr) continue;  // as its base
    const auto legal = [target](const Graph& call) {
      return optimize(*target, call, {}, {.optimize = false}).ok();
    };
    targets.push_back({target->name, resolved(*target).table, legal});
  }
  return targets;
}

// `kept`: no row, but taken whole.
std::string_view support_of(const OpDef& op, const Target& target) {
  const Target whole = resolved(target);
  const auto granularity = whole.optimizer.granularity;
  const bool native = whole.table == nullptr || whole.table->names(op);
  if (!native && granularity != nullptr && granularity().keeps(op)) return "kept";
  return op_support(op, whole.table);
}

}  // namespace

Result<int> run_ops(const TargetOptions& options) {
  Json rows = Json::array();
  std::string text = fmt::format("{:<14}", "op");
  for (const Target* target : options.targets) text += fmt::format(" {:<12}", target->name);
  text += " summary\n";
  for (const OpDef* op : all_ops()) {
    Json row = Json::object();
    row.set("name", op->name).set("summary", op->summary).set("formula", op->formula);
    row.set("primitive", op->decompose == nullptr);
    Json dtypes = Json::array();
    for (const DType dtype : op_dtypes(*op)) dtypes.push(dtype_name(dtype));
    row.set("dtypes", std::move(dtypes));
    Json support = Json::object();
    text += fmt::format("{:<14}", op->name);
    for (const Target* target : options.targets) {
      const std::string_view how = support_of(*op, *target);
      support.set(std::string(target->name), how);
      text += fmt::format(" {:<12}", how);
    }
    row.set("targets", std::move(support));
    rows.push(std::move(row));
    text += fmt::format(" {}\n", op->summary);
  }
  CAPRA_TRY(print_result(options.json ? rows.text(2) + "\n" : text));
  return kDone;
}

Result<int> run_targets(const ListTargetsOptions& options) {
  Json rows = Json::array();
  std::string text;
  for (const Target* target : options.targets) {
    const Availability availability = availability_of(*target, options.tools);
    const bool ready = availability.missing.empty();
    text += fmt::format("{:<10} {:<8} {}\n", target->name, ready ? "ready" : "missing",
                        target->summary);
    text += fmt::format("{:<19} uses: {}\n", "", availability.detail);
    if (!availability.needs.empty()) {
      text += fmt::format("{:<19} needs: {}\n", "", fmt::join(availability.needs, ", "));
    }
    if (!ready) {
      text += fmt::format("{:<19} missing here: {}\n", "", fmt::join(availability.missing, ", "));
    }
    Json needs = Json::array();
    for (const std::string& need : availability.needs) needs.push(need);
    Json missing = Json::array();
    for (const std::string& one : availability.missing) missing.push(one);
    Json row = Json::object();
    row.set("name", target->name).set("summary", target->summary);
    row.set("ready", ready).set("uses", availability.detail);
    row.set("needs", std::move(needs)).set("missing", std::move(missing));
    rows.push(std::move(row));
  }
  CAPRA_TRY(print_result(options.json ? rows.text(2) + "\n" : text));
  return kDone;
}

Result<int> run_docs(const DocsOptions& options) {
  if (options.output.empty()) {
    return fail("option-invalid", "a folder without a name", "--output", "name the folder");
  }
  Conformance conformance;
  if (!options.conformance.empty()) {
    CAPRA_ASSIGN(conformance, read_conformance(options.conformance));
  }
  CAPRA_TRY(write_op_docs(options.output, all_ops(), doc_targets(),
                          options.conformance.empty() ? nullptr : &conformance));
  const size_t pages = all_ops().size() + 1;
  if (options.json) {
    Json document = Json::object();
    document.set("output", options.output).set("pages", static_cast<int64_t>(pages));
    CAPRA_TRY(print_result(document.text(2) + "\n"));
  } else if (!options.quiet) {
    fmt::print(stderr, "wrote {} pages to {}\n", pages, options.output);
  }
  return kDone;
}

Result<int> run_explain(const ExplainOptions& options) {
  if (options.code.empty()) {
    std::string text;
    Json rows = Json::object();
    for (const DiagnosticCode& code : diagnostic_codes()) {
      text += fmt::format("{:<28} {}\n", code.code, code.line);
      rows.set(std::string(code.code), code.line);
    }
    CAPRA_TRY(print_result(options.json ? rows.text(2) + "\n" : text));
    return kDone;
  }
  const DiagnosticCode* code = find_diagnostic_code(options.code);
  if (code == nullptr) {
    std::vector<std::string_view> names;
    for (const DiagnosticCode& one : diagnostic_codes()) names.push_back(one.code);
    const std::string_view nearest = nearest_name(options.code, names);
    return fail("code-unknown", "there is no diagnostic code '" + options.code + "'", {},
                (nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest)) +
                    "'capra explain' lists them all");
  }
  Json row = Json::object();
  row.set("code", code->code).set("line", code->line);
  CAPRA_TRY(print_result(options.json ? row.text(2) + "\n"
                                      : fmt::format("{}: {}\n", code->code, code->line)));
  return kDone;
}

Status load_targets(TargetOptions& options) {
  CAPRA_ASSIGN(options.targets, with_plugins(all_targets(), options.plugins));
  return {};
}

Result<int> guarded(const TargetOptions& options, const std::function<Result<int>()>& run) {
  if (options.plugins.empty()) return run();
  const auto failed = [&options](std::string_view what) {
    return fail("plugin-failed",
                fmt::format("an exception came out of the targets' code: {}", what),
                fmt::format("{}", fmt::join(options.plugins, ", ")),
                "let no exception but capra::Error leave the functions of a plugin");
  };
  try {
    return run();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    return failed(exception.what());
  } catch (...) {
    return failed("it has no words");
  }
}

Status load_targets(ModelOptions& options) {
  CAPRA_TRY(load_targets(static_cast<TargetOptions&>(options)));
  options.embedding.targets = options.targets;
  return {};
}

CommandEntry docs_entry() {
  return command_entry<DocsOptions>(
      "docs", "write the operator pages", run_docs, "capra docs --output docs/generated",
      [](DocsOptions& options) -> std::vector<OptionEntry> {
        return {{.name = "--conformance",
                 .value = &options.conformance,
                 .takes = "FILE",
                 .group = kInput,
                 .text = "JSON of results, op by op and dtype by dtype"},
                {.name = "--output",
                 .value = &options.output,
                 .takes = "FOLDER",
                 .group = kOutput,
                 .text = "folder; default: docs/generated"}};
      });
}

CommandEntry explain_entry() {
  return command_entry<ExplainOptions>(
      "explain", "what a diagnostic code means", run_explain, "capra explain weights-incomplete",
      [](ExplainOptions& options) -> std::vector<OptionEntry> {
        return {{.name = "code",
                 .value = &options.code,
                 .takes = "CODE",
                 .text = "a diagnostic code; without it, all codes"}};
      });
}

}  // namespace capra::driver
