// One row an op; beside each what the chip needs of it, in words.
#include "capra/targets/ga2/lower/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "capra/ir/structural_ops.h"
#include "capra/ops/add.h"
#include "capra/ops/argmax.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/matmul.h"
#include "capra/ops/relu.h"
#include "capra/ops/slice.h"
#include "capra/ops/softmax.h"
#include "capra/passes/passes.h"
#include "capra/targets/ga2/quantize/fixed_point.h"
#include "capra/targets/ga2/quantize/requantizers.h"

namespace capra::ga2 {
namespace {

constexpr std::string_view kTaken =
    "the chip has matmul, softmax, add, relu, concat and slices of rows, and argmax, on matrices; "
    "compute the rest on another target";

Failure refuse(std::string found, std::string help) {
  return fail("op-not-legal", std::move(found), {}, std::move(help));
}

// A matrix is what the chip holds; `what` names it.
Status check_matrix(const TensorType& type, std::string_view what) {
  if (type.dtype != DType::F32 && type.dtype != DType::F64) {
    return refuse(fmt::format("{} is {}, f32 or f64 is needed", what, type.text()),
                  type.dtype == DType::I64 ? "an argmax can only be an output"
                                           : "give real numbers; the target chooses the integers");
  }
  if (type.shape.rank() != 2) {
    return refuse(fmt::format("{} is {}, two axes are needed", what, type.text()),
                  type.shape.rank() == 1
                      ? fmt::format("give it two axes: [1, {}]", type.shape[0].text())
                      : "the chip holds matrices: give rows and columns");
  }
  if (!type.shape.is_static()) {
    return refuse(fmt::format("{} is {}, extents that are numbers are needed", what, type.text()),
                  "the program is made for one shape: give every extent a number");
  }
  return {};
}

// The last of two axes, counted from either end.
bool is_columns(int64_t axis) { return axis == 1 || axis == -1; }

Status check_any(TypeRefs, const Attrs&, const TensorType&) { return {}; }

Status check_matmul(TypeRefs, const Attrs& attrs, const TensorType&) {
  if (!unpack<MatmulAttrs>(attrs).transpose_a) return {};
  return refuse("transpose_a is true, the matrix unit reads the first operand by rows",
                "make the transposed tensor by a product with its operands swapped");
}

Status check_softmax(TypeRefs, const Attrs& attrs, const TensorType&) {
  const int64_t axis = unpack<SoftmaxAttrs>(attrs).axis;
  if (is_columns(axis)) return {};
  return refuse(fmt::format("the axis is {}, the last one is needed", axis),
                "the softmax unit goes along rows: make the transposed tensor");
}

Status check_argmax(TypeRefs, const Attrs& attrs, const TensorType&) {
  const int64_t axis = unpack<ArgmaxAttrs>(attrs).axis;
  if (is_columns(axis)) return {};
  return refuse(fmt::format("the axis is {}, the last one is needed", axis),
                "the vector unit searches rows: make the transposed tensor");
}

Status check_add(TypeRefs operands, const Attrs&, const TensorType&) {
  if (operands[0]->shape == operands[1]->shape) return {};
  return refuse(fmt::format("the shapes are {} and {}, equal ones are needed",
                            operands[0]->shape.text(), operands[1]->shape.text()),
                "the vector unit repeats nothing: give the smaller operand in the full shape");
}

Status check_concat(TypeRefs operands, const Attrs& attrs, const TensorType&) {
  const int64_t axis = unpack<ConcatAttrs>(attrs).axis;
  if (is_columns(axis)) {
    return refuse(fmt::format("the axis is {}, the first one is needed", axis),
                  "rows are joined in place; columns would need a copy");
  }
  if (operands.size() > 1) return {};
  return refuse("there is one part, two or more are needed", "use the part itself");
}

Status check_slice(TypeRefs operands, const Attrs& attrs, const TensorType&) {
  const auto box = unpack<SliceAttrs>(attrs);
  if (!box.limits.is_static()) {
    return refuse(fmt::format("the limits are {}, numbers are needed", box.limits.text()),
                  "give the rows as numbers");
  }
  if (box.starts[1] != 0 || box.limits[1] != operands[0]->shape[1]) {
    return refuse(fmt::format("columns {} to {} of {} are taken, all are needed", box.starts[1],
                              box.limits[1].size() - 1, operands[0]->shape[1].text()),
                  "a slice is a view of whole rows; columns would need a copy");
  }
  if (std::ranges::all_of(box.strides, [](int64_t stride) { return stride == 1; })) return {};
  return refuse("there are steps, rows that follow one another are needed",
                "slice the rows one by one and join them after an op");
}

Status check_operands(const OpDef& op, TypeRefs operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& last = op.operands.back();
    const std::string_view name = i < op.operands.size() ? op.operands[i].name : last.name;
    CAPRA_TRY(check_matrix(*operands[i], name));
  }
  return {};
}

// A constant has no operand; its own type counts.
template <const OpDef& kOp,
          Status (*kCheck)(TypeRefs operands, const Attrs& attrs, const TensorType& result)>
Status check(TypeRefs operands, const Attrs& attrs, const TensorType& result) {
  CAPRA_TRY(operands.empty() ? check_matrix(result, "the value") : check_operands(kOp, operands));
  return kCheck(operands, attrs, result);
}

Result<NodeIndex> lower_matmul(Network& network, const Call& call) {
  const auto attrs = unpack<MatmulAttrs>(call.attrs);
  return network.matmul(call.operands[0], call.operands[1], attrs.transpose_b, attrs.factor);
}

Result<NodeIndex> lower_concat(Network& network, const Call& call) {
  NodeIndex joined = call.operands[0];
  for (const NodeIndex part : call.operands.subspan(1)) {
    CAPRA_ASSIGN(joined, network.concat_rows(joined, part));
  }
  return joined;
}

Result<NodeIndex> lower_slice(Network& network, const Call& call) {
  const auto box = unpack<SliceAttrs>(call.attrs);
  return network.slice_rows(call.operands[0], box.starts[0], box.limits[0].size() - box.starts[0]);
}

template <Result<NodeIndex> (Network::*kAdd)(NodeIndex)>
Result<NodeIndex> lower_unary(Network& network, const Call& call) {
  return (network.*kAdd)(call.operands[0]);
}

Result<NodeIndex> lower_add(Network& network, const Call& call) {
  return network.add(call.operands[0], call.operands[1]);
}

// A level is 1/127 of the range that calibration finds; what is between levels is lost.
constexpr std::string_view kInLevels = "computed in levels of 8 bits";
constexpr Accuracy levels(NodeOp op, std::string_view note) {
  return {.max_abs = levels_off(op) / kMostLevel, .max_ulp = 0, .note = note};
}
constexpr std::string_view kOfRange =
    "of the result's range, from what the operands' levels stand for; beyond the range it "
    "saturates";
constexpr Accuracy kExact = {.max_abs = 0, .max_ulp = 0, .note = "on levels"};

template <const OpDef& kOp,
          Status (*kCheck)(TypeRefs operands, const Attrs& attrs, const TensorType& result)>
constexpr Ga2Row row(Result<NodeIndex> (*lower)(Network& network, const Call& call),
                     Accuracy accuracy) {
  return {{.op = &kOp,
           .takes =
               [](TypeRefs operands, const Attrs& attrs, const TensorType& result) {
                 return check<kOp, kCheck>(operands, attrs, result).ok();
               },
           .accuracy = accuracy,
           .accuracy_reason = kInLevels},
          check<kOp, kCheck>,
          lower};
}

constinit const Ga2Row kRows[] = {
    row<kAdd, check_add>(lower_add, levels(NodeOp::Add, kOfRange)),
    row<kArgmax, check_argmax>(lower_unary<&Network::argmax>, kExact),
    row<kConcat, check_concat>(lower_concat, kExact),
    row<kConstant, check_any>(nullptr,
                              levels(NodeOp::Weight, "of its range; half of 1/7 for 4 bits")),
    row<kMatmul, check_matmul>(lower_matmul, levels(NodeOp::Matmul, kOfRange)),
    row<kRelu, check_any>(lower_unary<&Network::relu>, kExact),
    row<kSlice, check_slice>(lower_slice, kExact),
    row<kSoftmax, check_softmax>(
        lower_unary<&Network::softmax>,
        levels(NodeOp::Softmax,
               "from what the operand's levels stand for: steps of 1/16 up to 127/16")),
};

constexpr auto addresses() {
  std::array<const OpRow*, std::size(kRows)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = &kRows[i];
  return all;
}
constinit const auto kAddresses = addresses();

// A call without a row of its own: every step of its decomposition must have one.
Status check_steps(const Graph& graph, const Node& node, std::string_view target) {
  const std::string call = call_text(*node.op, operand_types(graph, node.operands));
  if (node.op->decompose == nullptr) {
    return refuse(fmt::format("target {} does not run {}", target, call), std::string(kTaken));
  }
  PassContext context{.table = &kOpTable, .target = target};
  const Result<Graph> steps = kLegalize.run(graph_of_call(graph, node, "call"), context);
  if (steps.ok()) return {};
  return refuse(fmt::format("target {} runs neither {} nor all of its steps", target, call),
                std::string(kTaken));
}

Status check_node(const Graph& graph, const Node& node, std::string_view target) {
  if (node.op == &kInput || node.op == &kParameter) {
    return check_matrix(node.type, std::string(node.op->name));
  }
  if (node.op == &kOutput) return {};
  if (node.op == &kGroup) return check_calls(*node.body, target);
  const std::vector<const TensorType*> operands = operand_types(graph, node.operands);
  const auto row = std::ranges::find(kRows, node.op, &Ga2Row::op);
  if (row == std::end(kRows)) return check_steps(graph, node, target);
  Status taken = row->check(operands, node.attrs, node.type);
  if (taken.ok()) return {};
  Diagnostic diagnostic = taken.error();
  diagnostic.message = fmt::format("target {} does not take {}: {}", target,
                                   call_text(*node.op, operands), diagnostic.message);
  return fail(std::move(diagnostic));
}

}  // namespace

constinit const OpTable kOpTable{kAddresses};

Status check_calls(const Graph& graph, std::string_view target) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    Status taken = check_node(graph, graph.node(id), target);
    if (taken.ok()) continue;
    Diagnostic diagnostic = taken.error();
    if (diagnostic.at.empty()) diagnostic.at = node_label(graph, id);
    return fail(std::move(diagnostic));
  }
  return {};
}

const Pass kCheckCalls{
    "check-matrix-calls", "Refuses what the chip has no unit for, and says what it needs.",
    NumericEffect::Exact, [](const Graph& graph, PassContext& context) -> Result<Graph> {
      CAPRA_TRY(check_calls(graph, context.target));
      return graph;
    }};

}  // namespace capra::ga2
