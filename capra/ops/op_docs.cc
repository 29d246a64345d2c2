// Operator pages in Markdown.
#include "capra/ops/op_docs.h"

#include <fmt/format.h>

#include <filesystem>

#include "capra/base/new_file.h"
#include "capra/base/number_text.h"
#include "capra/ir/graph.h"
#include "capra/ir/tape.h"
#include "capra/ir/text.h"

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
  if (accuracy.max_abs == 0 && accuracy.max_ulp == 0) {
    text = "exact";
  } else if (accuracy.max_abs == 0 && accuracy.max_ulp == 0.5) {
    text = "correctly rounded";
  } else if (accuracy.max_abs == 0) {
    text = fmt::format("within {} ulp", number_text(accuracy.max_ulp));
  } else {
    text = fmt::format("within {} absolute or {} ulp, whichever is larger",
                       number_text(accuracy.max_abs), number_text(accuracy.max_ulp));
  }
  if (!accuracy.note.empty()) text += fmt::format(" ({})", accuracy.note);
  return text;
}

// The decomposition on the operand types of one example, as graph text.
Result<std::string> traced_decomposition(const OpDef& op, const Example& example) {
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
  return print_graph(build_graph(sink.take_tape()));
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
  const Result<std::string> traced = traced_decomposition(op, op.examples[0]);
  CAPRA_CHECK(traced.ok());
  return text + "```\n" + *traced + "```\n\n";
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

// Rows whose bound differs from the record's are listed with their reason.
std::string target_section(const OpDef& op, std::span<const DocTarget> targets) {
  std::string text = "## Targets\n\n| target | support | accuracy at f32 |\n|---|---|---|\n";
  for (const DocTarget& target : targets) {
    std::string accuracy = accuracy_text(op.accuracy);
    if (target.table == nullptr) accuracy = "double precision";
    for (const OpRow* row :
         target.table == nullptr ? std::span<const OpRow* const>() : target.table->rows()) {
      if (row->op != &op || row->accuracy_reason.empty()) continue;
      accuracy = fmt::format("{}: {}", accuracy_text(row->accuracy), row->accuracy_reason);
    }
    text += fmt::format("| {} | {} | {} |\n", target.name, op_support(op, target.table),
                        cell(accuracy));
  }
  return text;
}

std::string op_page(const OpDef& op, std::span<const DocTarget> targets) {
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
  return text;
}

std::string matrix_page(OpSet ops, std::span<const DocTarget> targets) {
  std::string text =
      "# Operators\n\nWhat each op is and what each target does with it. *native*: a kernel or "
      "form "
      "of its own. *decomposed*: run as its decomposition. *as defined*: evaluated by the record. "
      "*refused*: a graph with it does not compile for the target.\n\n| op | | kind |";
  for (const DocTarget& target : targets) text += fmt::format(" {} |", target.name);
  text += "\n|---|---|---|";
  for (size_t i = 0; i < targets.size(); ++i) text += "---|";
  text += "\n";
  for (const OpDef* op : ops) {
    text += fmt::format("| [{0}](ops/{0}.md) | {1} | {2} |", op->name, cell(op->summary),
                        op->decompose == nullptr ? "primitive" : "composite");
    for (const DocTarget& target : targets) {
      text += fmt::format(" {} |", op_support(*op, target.table));
    }
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

std::vector<DocPage> op_pages(OpSet ops, std::span<const DocTarget> targets) {
  std::vector<DocPage> pages;
  pages.push_back({"ops.md", matrix_page(ops, targets)});
  for (const OpDef* op : ops) {
    pages.push_back({fmt::format("ops/{}.md", op->name), op_page(*op, targets)});
  }
  return pages;
}

Status write_op_docs(const std::string& folder, OpSet ops, std::span<const DocTarget> targets) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(folder) / "ops", failed);
  if (failed) return fail("file-unwritable", "cannot make the folder: " + failed.message(), folder);
  for (const DocPage& page : op_pages(ops, targets)) {
    const std::filesystem::path path = std::filesystem::path(folder) / page.path;
    CAPRA_TRY(write_file(path.string(), page.text));
  }
  return {};
}

}  // namespace capra
