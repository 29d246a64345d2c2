// Chains on parameters as groups; their data.
#include "capra/passes/policy/prepare_parameters.h"

#include <cstring>
#include <utility>
#include <vector>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/convert.h"
#include "capra/ops/permute.h"
#include "capra/passes/match.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

constexpr std::string_view kName = "prepare-parameters";

bool is_step(const OpDef* op) { return op == &kPermute || op == &kConvert; }

Array permuted(const Array& data, const std::vector<int64_t>& axes) {
  const size_t rank = axes.size();
  std::vector<int64_t> strides(rank, 1);  // of the data, in elements
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * data.sizes()[i];
  std::vector<int64_t> sizes(rank);
  std::vector<int64_t> steps(rank);  // through the data, by axis of the result
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<size_t>(position_of(axes[i], static_cast<int64_t>(rank)));
    sizes[i] = data.sizes()[axis];
    steps[i] = strides[axis];
  }
  Array result = Array::zeros(data.dtype(), sizes);
  const size_t bytes = dtype_bytes(data.dtype());
  std::vector<int64_t> index(rank, 0);
  int64_t from = 0;
  for (int64_t to = 0; to < result.elements(); ++to) {
    std::memcpy(result.mutable_data() + static_cast<size_t>(to) * bytes,
                data.data() + static_cast<size_t>(from) * bytes, bytes);
    for (size_t i = rank; i-- > 0;) {
      from += steps[i];
      if (++index[i] < sizes[i]) break;
      from -= index[i] * steps[i];
      index[i] = 0;
    }
  }
  return result;
}

Array converted(const Array& data, DType dtype) {
  if (data.dtype() == dtype) return data;
  Array result = Array::zeros(dtype, data.sizes());
  for (int64_t i = 0; i < data.elements(); ++i) convert_element(data, i, dtype, result);
  return result;
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  GraphRewriter rewriter(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    const NodeId source = is_step(node.op) ? operand(graph, id, 0) : kAbsent;
    const NodeId parameter = source == kAbsent ? kAbsent : parameter_of(graph, source);
    // Where somebody else reads the parameter too, its data would be kept twice.
    if (parameter == kAbsent || !rewriter.used_once(parameter) || !rewriter.used_once(source)) {
      rewriter.copy(id);
      continue;
    }
    const NodeId group = append_prepared(rewriter, source, *node.op, node.attrs, node.path);
    rewriter.replace(id, group);
    const Graph& body = *rewriter.result().node(group).body;
    context.report.rewrites.push_back({std::string(kName), "constant-step",
                                       graph.node(parameter).attrs_as<ParameterAttrs>().path,
                                       forms_note("parameter", preparation_text(body))});
  }
  return std::move(rewriter).finish();
}

}  // namespace

bool is_prepared_parameter(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op != &kGroup || node.attrs_as<GroupAttrs>().label != kPreparedParameter) return false;
  if (node.operands.size() != 1 || !is_op(graph, node.operands[0], kParameter)) return false;
  if (node.body->size() < 3) return false;  // its input, a step, its output
  NodeId last = 0;
  for (NodeId inner = 1; inner < node.body->size(); ++inner) {
    const Node& step = node.body->node(inner);
    if (step.op != &kOutput && !is_step(step.op)) return false;
    if (step.operands[0] != last) return false;
    last = inner;
  }
  return true;
}

NodeId parameter_of(const Graph& graph, NodeId id) {
  if (id == kAbsent || is_op(graph, id, kParameter)) return id;
  return is_prepared_parameter(graph, id) ? graph.node(id).operands[0] : kAbsent;
}

std::string preparation_text(const Graph& body) {
  std::string text;
  for (const Node& node : body.nodes()) {
    if (!is_step(node.op)) continue;
    text += (text.empty() ? "" : " ") + std::string(node.op->name) + "(";
    text += std::string(node.op->attrs.fields[0].name) + "=" + print_attr(node.attrs[0]) + ")";
  }
  return text;
}

Result<Array> prepared_data(const Graph& body, const Array& data) {
  if (data.type() != body.node(0).type) {
    return fail("parameter-type", "the data is " + data.type().text() + ", its preparation reads " +
                                      body.node(0).type.text());
  }
  Array result = data;
  for (const Node& node : body.nodes()) {
    if (node.op == &kPermute) result = permuted(result, node.attrs_as<PermuteAttrs>().axes);
    if (node.op == &kConvert) result = converted(result, node.type.dtype);
  }
  return result;
}

NodeId append_prepared(GraphRewriter& rewriter, NodeId source, const OpDef& op, Attrs attrs,
                       std::string path) {
  const Graph& graph = rewriter.source();
  GroupBuilder group(rewriter, kPreparedParameter);
  NodeId value = group.input("parameter", parameter_of(graph, source));
  if (graph.node(source).op == &kGroup) {
    for (const Node& step : graph.node(source).body->nodes()) {
      if (is_step(step.op)) value = group.call(*step.op, {value}, step.attrs, step.path);
    }
  }
  value = group.call(op, {value}, std::move(attrs), path);
  return group.finish(value, std::move(path));
}

const Pass kPrepareParameters{
    kName,
    "Makes what depends on one parameter alone, by permute and convert, a parameter of another "
    "form.",
    NumericEffect::Exact, run};

}  // namespace capra
