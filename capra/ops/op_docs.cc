// Operator pages in Markdown.
#include "capra/ops/op_docs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "capra/base/new_file.h"
#include "capra/base/number_text.h"
#include "capra/ir/graph.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/tape.h"
#include "capra/ir/text.h"
#include "capra/ops/constant.h"

namespace capra {
namespace {

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string operand_section(const OpDef& op) {
  if (op.operands.empty()) return "## Operands\n\nNone.\n\n";
  std::string text = "## Operands\n\n| operand | meaning |\n|---|---|\n";
  for (const Operand& operand : op.operands) {
    std::string name = fmt::format("`{}`", operand.name);
    if (operand.arity == Arity::Optional) name += " (optional)";
    if (operand.arity == Arity::Variadic) name += ", one or more";
    text += fmt::format("| {} | {} |\n", name, cell(operand.doc));
  }
  return text + "\n";
}

std::string default_text(const AttrValue& value) {
  const auto* array = std::get_if<Array>(&value);
  if (array != nullptr && !*array) return "needed";
  return "`" + print_attr(value) + "`";
}

std::string attribute_section(const OpDef& op) {
  if (op.attrs.fields.empty()) return {};
  std::string text =
      "## Attributes\n\n| attribute | type | default | meaning |\n|---|---|---|---|\n";
  const Attrs defaults = op.attrs.defaults();
  for (size_t i = 0; i < op.attrs.fields.size(); ++i) {
    const AttrField& field = op.attrs.fields[i];
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.name, attr_kind_name(field.kind),
                        default_text(defaults[i]), cell(field.doc));
  }
  return text + "\n";
}

std::string schedule_section(const OpDef& op) {
  if (op.parallel_dims.empty()) return {};
  std::string dims;
  for (const std::string_view dim : op.parallel_dims) {
    dims += (dims.empty() ? "" : ", ") + fmt::format("`parallel({})`", dim);
  }
  return fmt::format("## Schedule hints\n\n{}\n\n", dims);
}

std::string accuracy_text(const Accuracy& accuracy) {
  std::string text;
  if (accuracy.max_ulp_per_term > 0) {
    text = fmt::format(
        "within {}{} ulp and {} more for each term",
        accuracy.max_abs == 0 ? "" : fmt::format("{} absolute or ", number_text(accuracy.max_abs)),
        number_text(accuracy.max_ulp), number_text(accuracy.max_ulp_per_term));
  } else if (accuracy.max_abs == 0 && accuracy.max_ulp == 0) {
    text = "exact";
  } else if (accuracy.max_abs == 0 && accuracy.max_ulp == 0.5) {
    text = "correctly rounded";
  } else if (accuracy.max_abs == 0) {
    text = fmt::format("within {} ulp", number_text(accuracy.max_ulp));
  } else if (accuracy.max_ulp == 0) {
    text = fmt::format("within {} absolute", number_text(accuracy.max_abs));
  } else {
    text = fmt::format("within {} absolute or {} ulp, whichever is larger",
                       number_text(accuracy.max_abs), number_text(accuracy.max_ulp));
  }
  if (!accuracy.note.empty()) text += fmt::format(" ({})", accuracy.note);
  return text;
}

// One call as a graph, on the operands of an example with the values' dtype exchanged. Fails where
// the example has no such values: its integers may be indices.
Result<Graph> call_on(const OpDef& op, const Example& example, DType dtype) {
  Graph graph("call");
  std::vector<NodeId> operands;
  CAPRA_ASSIGN(Attrs attrs, parse_attrs(example.attrs, op.attrs));
  if (op.operands.empty()) {
    for (AttrValue& value : attrs) {
      if (auto* own = std::get_if<DType>(&value)) *own = dtype;
      if (auto* array = std::get_if<Array>(&value)) *array = Array::zeros(dtype, {1, 1});
    }
  }
  std::vector<Array> given;
  for (const std::string_view text : example.operands) {
    CAPRA_ASSIGN(Array array, text == "_" ? Result<Array>(Array()) : parse_array(text));
    given.push_back(std::move(array));
  }
  bool has_values = op.operands.empty();
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) {
      operands.push_back(kAbsent);
      continue;
    }
    const bool all_bool = given.size() == 2 && given[i].dtype() == DType::Bool;
    const bool is_value = is_float(given[i].dtype()) || all_bool || op.operands.size() == 1;
    has_values = has_values || is_value;
    const TensorType type{is_value ? dtype : given[i].dtype(), given[i].type().shape};
    const InputAttrs input{fmt::format("x{}", i), type};
    operands.push_back(
        graph.append({.op = &kInput, .operands = {}, .attrs = pack(input), .type = type}));
  }
  if (!has_values) return fail("operand-dtype", "no operand has the values' dtype");
  while (!operands.empty() && operands.back() == kAbsent) operands.pop_back();
  CAPRA_ASSIGN(const NodeId result, graph.append_call(op, operands, std::move(attrs)));
  CAPRA_TRY(graph.append_call(kOutput, {result}, pack(OutputAttrs{"result"})));
  return graph;
}

// What a target does with the op on each dtype that the record allows.
std::string_view support_on(const OpDef& op, DType dtype, const DocTarget& target) {
  std::string_view support = "refused";
  for (const Example& example : op.examples) {
    const Result<Graph> graph = call_on(op, example, dtype);
    if (!graph.ok()) continue;
    if (target.legal && !target.legal(*graph)) continue;
    const NodeId id = graph->outputs().front() - 1;
    const Node& node = graph->node(id);
    if (target.table->find(op, operand_types(*graph, node.operands), node.attrs, node.type)) {
      return "native";
    }
    if (op.decompose != nullptr) support = "decomposed";
  }
  return support;
}

struct DTypeClass {
  std::string_view name;
  std::vector<DType> dtypes;
};

const std::vector<DTypeClass>& dtype_classes() {
  static const std::vector<DTypeClass> classes = [] {
    std::vector<DTypeClass> all{{"any", {}}, {"numbers", {}}, {"floats", {}}, {"integers", {}}};
    for (const DType dtype : all_dtypes()) {
      all[0].dtypes.push_back(dtype);
      if (dtype != DType::Bool) all[1].dtypes.push_back(dtype);
      if (is_float(dtype)) all[2].dtypes.push_back(dtype);
      if (is_integer(dtype)) all[3].dtypes.push_back(dtype);
    }
    return all;
  }();
  return classes;
}

// `floats, i32`: the widest classes that are there whole, then what is left.
std::string dtypes_text(std::vector<DType> dtypes) {
  std::string text;
  const auto add = [&](std::string_view one) {
    text += (text.empty() ? "" : ", ") + std::string(one);
  };
  for (const DTypeClass& one : dtype_classes()) {
    const auto is_there = [&](DType dtype) {
      return std::ranges::find(dtypes, dtype) != dtypes.end();
    };
    if (!std::ranges::all_of(one.dtypes, is_there)) continue;
    add(one.name);
    std::erase_if(dtypes, [&](DType dtype) {
      return std::ranges::find(one.dtypes, dtype) != one.dtypes.end();
    });
  }
  for (const DType dtype : dtypes) add(dtype_name(dtype));
  return text;
}

// What holds of which dtypes, in an order: the one word where it holds of all.
std::string by_dtypes(const std::map<std::string_view, std::vector<DType>>& found,
                      std::span<const std::string_view> order) {
  if (found.size() == 1) return std::string(found.begin()->first);
  std::string text;
  for (const std::string_view word : order) {
    const auto dtypes = found.find(word);
    if (dtypes == found.end()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", word, dtypes_text(dtypes->second));
  }
  return text;
}

// `native`, or `native: floats; refused: integers`.
std::string support_cell(const OpDef& op, const DocTarget& target) {
  if (target.table == nullptr) return "as defined";
  std::map<std::string_view, std::vector<DType>> found;
  for (const DType dtype : op_dtypes(op)) found[support_on(op, dtype, target)].push_back(dtype);
  constexpr std::string_view kOrder[] = {"native", "decomposed", "refused"};
  return by_dtypes(found, kOrder);
}

// `passed`, or `passed: floats; unsupported: bf16`.
std::string conformance_cell(const OpDef& op, const Conformance& conformance) {
  constexpr std::string_view kWithExceptions = "passed with exceptions";
  const auto known = conformance.ops.find(op.name);
  if (known == conformance.ops.end()) return "no result";
  std::map<std::string_view, std::vector<DType>> found;
  for (const ConformanceResult& one : known->second) {
    const bool in_part = one.result == "passed" && !one.reason.empty();
    found[in_part ? kWithExceptions : std::string_view(one.result)].push_back(one.dtype);
  }
  constexpr std::string_view kOrder[] = {"passed", kWithExceptions, "unsupported",
                                         "expected_to_fail"};
  return by_dtypes(found, kOrder);
}

// The decomposition on the operand types of one example.
Result<Graph> traced_decomposition(const OpDef& op, const Example& example) {
  const Context context = TraceSink::begin(std::string(op.name));
  auto& sink = static_cast<TraceSink&>(context.sink());
  std::vector<Tensor> operands;
  for (size_t i = 0; i < example.operands.size(); ++i) {
    if (example.operands[i] == "_") {
      operands.emplace_back();
      continue;
    }
    CAPRA_ASSIGN(const Array array, parse_array(example.operands[i]));
    const std::string name(op.operands[std::min(i, op.operands.size() - 1)].name);
    const TensorType type{DType::F32, array.type().shape};
    operands.push_back(sink.input(context, name, is_float(array.dtype()) ? type : array.type()));
  }
  CAPRA_ASSIGN(Attrs attrs, parse_attrs(example.attrs, op.attrs));
  try {
    sink.output(op.decompose(operands, attrs), "result");
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return build_graph(sink.take_tape());
}

std::string meaning_section(const OpDef& op) {
  std::string text = "## Meaning\n\n";
  if (op.decompose == nullptr) {
    return text +
           "A primitive: the interpreter computes it in double precision; a target without a row "
           "for it refuses it.\n\n";
  }
  text +=
      "A composite: a target without a row for it runs this decomposition, shown on the operand "
      "types of the first example at f32.\n\n";
  if (op.examples.empty()) return text;
  const Result<Graph> traced = traced_decomposition(op, op.examples[0]);
  CAPRA_CHECK(traced.ok());
  return text + "```\n" + print_graph(*traced) + "```\n\n";
}

std::string example_section(const OpDef& op) {
  std::string text =
      "## Examples\n\n| operands | attributes | result | source |\n|---|---|---|---|\n";
  for (const Example& example : op.examples) {
    std::string operands;
    for (const std::string_view operand : example.operands) {
      if (!operands.empty()) operands += ", ";
      operands += fmt::format("`{}`", operand);
    }
    const std::string attrs = example.attrs.empty() ? "" : fmt::format("`{}`", example.attrs);
    text += fmt::format("| {} | {} | `{}` | {} |\n", operands, attrs, example.result,
                        cell(example.source));
  }
  return text + "\n";
}

// Bounds that differ from the record's are listed with their reason.
std::string target_section(const OpDef& op, std::span<const DocTarget> targets) {
  std::string text = "## Targets\n\n| target | support | accuracy at f32 |\n|---|---|---|\n";
  for (const DocTarget& target : targets) {
    std::string accuracy = accuracy_text(op.accuracy);
    if (target.table == nullptr) accuracy = "double precision";
    const OpBound bound = target.table == nullptr ? OpBound() : target.table->bound(op);
    if (!bound.reason.empty()) {
      accuracy = fmt::format("{}: {}", accuracy_text(bound.accuracy), bound.reason);
    }
    text +=
        fmt::format("| {} | {} | {} |\n", target.name, support_cell(op, target), cell(accuracy));
  }
  return text;
}

std::string conformance_section(const OpDef& op, const Conformance& conformance) {
  std::string text = fmt::format("\n## Conformance\n\nJudge: {}.\n\n", conformance.judge);
  const auto known = conformance.ops.find(op.name);
  if (known == conformance.ops.end()) return text + "No result.\n";
  text += "| dtype | result | reason |\n|---|---|---|\n";
  for (const ConformanceResult& one : known->second) {
    text += fmt::format("| {} | {} | {} |\n", dtype_name(one.dtype), one.result, cell(one.reason));
  }
  return text;
}

std::string op_page(const OpDef& op, std::span<const DocTarget> targets,
                    const Conformance* conformance) {
  std::string text = fmt::format("# {}\n\n{}\n\n    {}\n\n", op.name, op.summary, op.formula);
  if (!op.prose.empty()) text += fmt::format("{}\n\n", op.prose);
  text += operand_section(op);
  text += attribute_section(op);
  text += schedule_section(op);
  text += meaning_section(op);
  text += fmt::format("## Accuracy at f32\n\n{}.\n\n", accuracy_text(op.accuracy));
  if (!op.composite.name.empty()) {
    text += fmt::format("In dialects with composites: `{}`, version {}.\n\n", op.composite.name,
                        op.composite.version);
  }
  text += example_section(op);
  text += target_section(op, targets);
  if (conformance != nullptr) text += conformance_section(op, *conformance);
  return text;
}

std::string matrix_page(OpSet ops, std::span<const DocTarget> targets,
                        const Conformance* conformance) {
  std::string text =
      "# Operators\n\nWhat each op is and what each target does with it. *native*: a kernel or "
      "form "
      "of its own. *decomposed*: run as its decomposition. *as defined*: evaluated by the record. "
      "*refused*: a graph with it does not compile for the target.\n\nThe dtypes are those of the "
      "values; conditions, indices and offsets have their own. *any*: every dtype. *numbers*: "
      "every "
      "one but bool. *floats*: f64, f32, f16, bf16.";
  if (conformance != nullptr) {
    text += fmt::format(
        " Conformance is a comparison with the double-precision oracle (judge: {}); the page of an "
        "op "
        "has the reasons.",
        conformance->judge);
  }
  text += "\n\n| op | | kind | dtypes | decomposes to | composite |";
  for (const DocTarget& target : targets) text += fmt::format(" {} |", target.name);
  if (conformance != nullptr) text += " conformance |";
  text += "\n|---|---|---|---|---|---|";
  for (size_t i = 0; i < targets.size() + (conformance == nullptr ? 0 : 1); ++i) text += "---|";
  text += "\n";
  for (const OpDef* op : ops) {
    const std::string composite =
        op->composite.name.empty()
            ? std::string()
            : fmt::format("`{}` {}", op->composite.name, op->composite.version);
    text += fmt::format("| [{0}](ops/{0}.md) | {1} | {2} | {3} | {4} | {5} |", op->name,
                        cell(op->summary), op->decompose == nullptr ? "primitive" : "composite",
                        dtypes_text(op_dtypes(*op)), fmt::join(op_steps(*op), ", "), composite);
    for (const DocTarget& target : targets) text += fmt::format(" {} |", support_cell(*op, target));
    if (conformance != nullptr) text += fmt::format(" {} |", conformance_cell(*op, *conformance));
    text += "\n";
  }
  return text;
}

}  // namespace

std::string_view op_support(const OpDef& op, const OpTable* table) {
  if (table == nullptr) return "as defined";
  if (table->names(op)) return "native";
  return op.decompose != nullptr ? "decomposed" : "refused";
}

std::vector<DType> op_dtypes(const OpDef& op) {
  std::vector<DType> dtypes;
  for (const DType dtype : all_dtypes()) {
    const auto allows = [&](const Example& example) { return call_on(op, example, dtype).ok(); };
    if (std::ranges::any_of(op.examples, allows)) dtypes.push_back(dtype);
  }
  return dtypes;
}

std::vector<std::string_view> op_steps(const OpDef& op) {
  std::vector<std::string_view> steps;
  if (op.decompose == nullptr || op.examples.empty()) return steps;
  const Result<Graph> traced = traced_decomposition(op, op.examples[0]);
  CAPRA_CHECK(traced.ok());
  for (const Node& node : traced->nodes()) {
    if (node.op == &kInput || node.op == &kOutput || node.op == &kConstant) continue;
    if (std::ranges::find(steps, node.op->name) == steps.end()) steps.push_back(node.op->name);
  }
  return steps;
}

std::vector<DocPage> op_pages(OpSet ops, std::span<const DocTarget> targets,
                              const Conformance* conformance) {
  std::vector<DocPage> pages;
  pages.push_back({"ops.md", matrix_page(ops, targets, conformance)});
  for (const OpDef* op : ops) {
    pages.push_back({fmt::format("ops/{}.md", op->name), op_page(*op, targets, conformance)});
  }
  return pages;
}

Status write_op_docs(const std::string& folder, OpSet ops, std::span<const DocTarget> targets,
                     const Conformance* conformance) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(folder) / "ops", failed);
  if (failed) return fail("file-unwritable", "cannot make the folder: " + failed.message(), folder);
  for (const DocPage& page : op_pages(ops, targets, conformance)) {
    const std::filesystem::path path = std::filesystem::path(folder) / page.path;
    CAPRA_TRY(write_file(path.string(), page.text));
  }
  return {};
}

}  // namespace capra
