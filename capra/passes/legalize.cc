// Leaves only what the target's table takes and its granularity keeps: other ops are replaced by
// their decomposition, again and again; a primitive without a row is refused.
#include "capra/ir/structural_ops.h"
#include "capra/ops/constant.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

/// No record decomposes deeper than this; a record that leads back to itself is a bug.
constexpr int kMaxDepth = 32;

/// Appends calls that the target takes and decomposes the others.
class LegalizingSink : public Sink {
 public:
  LegalizingSink(GraphRewriter& rewriter, const PassContext& context, std::string at)
      : rewriter_(rewriter), context_(context), at_(std::move(at)) {}

  Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
               TensorType type) override {
    const std::vector<const TensorType*> types = operand_types(operands);
    if (takes(*context_.table, context_.granularity, op, types, attrs, type)) {
      const NodeId value = rewriter_.append_call(op, operands, std::move(attrs), type);
      return Tensor::of_value(self, std::move(type), value);
    }
    if (op.decompose == nullptr) throw Error(refusal(op, types));
    CAPRA_CHECK(++depth_ <= kMaxDepth);
    within_.push_back(&op);
    Tensor result = op.decompose(operands, attrs);
    within_.pop_back();
    --depth_;
    return result;
  }

  Tensor parameter(const Context&, std::string_view path, TensorType) override {
    throw Error({"graph-invalid", "a decomposition asks for a parameter", std::string(path)});
  }

 private:
  Diagnostic refusal(const OpDef& op, TypeRefs types) const {
    std::string message = "target ";
    message += context_.target.empty() ? std::string_view("without a name") : context_.target;
    message += " has no row for " + call_text(op, types);
    for (auto outer = within_.rbegin(); outer != within_.rend(); ++outer) {
      message += ", a step of " + std::string((*outer)->name);
    }
    message += context_.table->names(op) ? "; its rows for this op take other types or attributes"
                                         : "; the op is a primitive and cannot be decomposed";
    return {"op-not-legal", message, at_, context_.table->help(op)};
  }

  GraphRewriter& rewriter_;
  const PassContext& context_;
  std::string at_;
  std::vector<const OpDef*> within_;
  int depth_ = 0;
};

bool is_form(const OpDef* op) { return op == &kInput || op == &kParameter || op == &kOutput; }

bool is_legal(const Graph& graph, NodeId id, const PassContext& context) {
  const Node& node = graph.node(id);
  if (is_form(node.op)) return true;
  if (node.op == &kGroup) {
    for (NodeId inner = 0; inner < node.body->size(); ++inner) {
      if (!is_legal(*node.body, inner, context)) return false;
    }
    return true;
  }
  return takes(*context.table, context.granularity, *node.op, operand_types(graph, node.operands),
               node.attrs, node.type);
}

// The ops from number `first` on, without the numbers among them: `mul, erf, add, mul, mul`.
std::string steps_text(const Graph& graph, NodeId first) {
  std::string text;
  for (NodeId id = first; id < graph.size(); ++id) {
    if (graph.node(id).op == &kConstant) continue;
    text += (text.empty() ? "" : ", ") + std::string(graph.node(id).op->name);
  }
  return text.empty() ? "its operand" : text;
}

Result<Graph> run(const Graph& given, PassContext& context) {
  if (context.table == nullptr) {
    return fail("pass-needs-table", "legalize was run without a target's table", {},
                "name a target");
  }
  // A group with an illegal part is taken apart: its label would promise what is not there.
  const Graph graph = inline_groups(
      given, [&](const Graph& now, NodeId id) { return !is_legal(now, id, context); });
  GraphRewriter rewriter(graph);
  try {
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (is_legal(graph, id, context)) {
        rewriter.copy(id);
        continue;
      }
      const Node& node = graph.node(id);
      const Context legal(
          std::make_shared<LegalizingSink>(rewriter, context, node_label(graph, id)));
      std::vector<Tensor> operands;
      operands.reserve(node.operands.size());
      for (const NodeId operand : node.operands) {
        operands.push_back(operand == kAbsent ? Tensor()
                                              : Tensor::of_value(legal, graph.node(operand).type,
                                                                 rewriter.mapped(operand)));
      }
      const NodeId first = rewriter.result().size();
      rewriter.splice(id, [&] { return capra::apply(*node.op, operands, node.attrs, legal); });
      context.report.rewrites.push_back(
          {std::string(kLegalize.name), "decompose", node_label(graph, id),
           forms_note(form_text(node), steps_text(rewriter.result(), first))});
    }
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return std::move(rewriter).finish();
}

}  // namespace

const Pass kLegalize{"legalize",
                     "Decomposes ops that the target does not run itself and refuses what is left.",
                     NumericEffect::Meaning, run};

}  // namespace capra
