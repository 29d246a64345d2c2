// Identities that keep every bit, NaN and signed zeros included. Each makes the graph smaller or
// its operands simpler, so the rules end. x + 0 is not here: -0 + 0 is +0.
#include <cmath>

#include "capra/ops/abs.h"
#include "capra/ops/add.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/compare.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/div.h"
#include "capra/ops/logical_not.h"
#include "capra/ops/maximum.h"
#include "capra/ops/minimum.h"
#include "capra/ops/mul.h"
#include "capra/ops/neg.h"
#include "capra/ops/permute.h"
#include "capra/ops/relu.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "capra/ops/sub.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"

namespace capra {
namespace {

const TensorType& type_of(const GraphRewriter& rewriter, NodeId id) {
  return rewriter.source().node(id).type;
}

/// `value` stands for `root` when their types are equal.
bool stand_for(GraphRewriter& rewriter, NodeId root, NodeId value) {
  if (type_of(rewriter, value) != type_of(rewriter, root)) return false;
  rewriter.replace(root, rewriter.mapped(value));
  return true;
}

// x * 1 = 1 * x = x
bool multiply_by_one(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kMul)) return false;
  for (const auto& [x, one] : both_orders(graph, root)) {
    if (splat(graph, one) == 1.0 && stand_for(rewriter, root, x)) return true;
  }
  return false;
}

// x / 1 = x
bool divide_by_one(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  return is_op(graph, root, kDiv) && splat(graph, operand(graph, root, 1)) == 1.0 &&
         stand_for(rewriter, root, operand(graph, root, 0));
}

bool is_zero(const Graph& graph, NodeId id, bool negative) {
  const std::optional<double> value = splat(graph, id);
  return value == 0.0 && std::signbit(*value) == negative;
}

// x - (+0) = x, for -0 too; x + (-0) = x. Of integers zero has one sign.
bool add_nothing(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  const bool real = is_float(type_of(rewriter, root).dtype);
  if (is_op(graph, root, kSub)) {
    return is_zero(graph, operand(graph, root, 1), false) &&
           stand_for(rewriter, root, operand(graph, root, 0));
  }
  if (!is_op(graph, root, kAdd)) return false;
  for (const auto& [x, zero] : both_orders(graph, root)) {
    if (is_zero(graph, zero, real) && stand_for(rewriter, root, x)) return true;
  }
  return false;
}

// -(-x) = x, not(not x) = x
bool double_negation(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  for (const OpDef* op : {&kNeg, &kLogicalNot}) {
    const NodeId inner = operand(graph, root, 0);
    if (is_op(graph, root, *op) && is_op(graph, inner, *op)) {
      return stand_for(rewriter, root, operand(graph, inner, 0));
    }
  }
  return false;
}

// f(f(x)) = f(x) for abs and relu
bool idempotent(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  for (const OpDef* op : {&kAbs, &kRelu}) {
    const NodeId inner = operand(graph, root, 0);
    if (is_op(graph, root, *op) && is_op(graph, inner, *op)) {
      return stand_for(rewriter, root, inner);
    }
  }
  return false;
}

// |-x| = |x|, not of unsigned integers, whose negation wraps
bool abs_of_negation(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  const NodeId inner = operand(graph, root, 0);
  if (!is_op(graph, root, kAbs) || !is_op(graph, inner, kNeg)) return false;
  const DType dtype = type_of(rewriter, root).dtype;
  if (!is_float(dtype) && !is_signed_integer(dtype)) return false;
  rewriter.splice(root, [&] { return abs(rewriter.tensor(operand(graph, inner, 0))); });
  return true;
}

// min(x, x) = max(x, x) = x
bool extremum_of_same(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  return (is_op(graph, root, kMinimum) || is_op(graph, root, kMaximum)) &&
         operand(graph, root, 0) == operand(graph, root, 1) &&
         stand_for(rewriter, root, operand(graph, root, 0));
}

// x - (-y) = x + y
bool subtract_negation(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kSub) || !is_op(graph, operand(graph, root, 1), kNeg)) return false;
  const NodeId y = operand(graph, operand(graph, root, 1), 0);
  rewriter.splice(root,
                  [&] { return rewriter.tensor(operand(graph, root, 0)) + rewriter.tensor(y); });
  return true;
}

// x + (-y) = (-y) + x = x - y
bool add_negation(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kAdd)) return false;
  for (const auto& [x, negated] : both_orders(graph, root)) {
    if (!is_op(graph, negated, kNeg)) continue;
    const NodeId left = x;
    const NodeId y = operand(graph, negated, 0);
    rewriter.splice(root, [&] { return rewriter.tensor(left) - rewriter.tensor(y); });
    return true;
  }
  return false;
}

// x / 2^n = x * 2^-n where 2^-n is a normal number of the dtype: the same real number is rounded.
bool divide_by_power_of_two(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kDiv)) return false;
  const TensorType& divisor = type_of(rewriter, operand(graph, root, 1));
  const std::optional<double> value = splat(graph, operand(graph, root, 1));
  if (!value || !is_float(divisor.dtype)) return false;
  int exponent = 0;
  if (std::abs(std::frexp(*value, &exponent)) != 0.5) return false;
  const int limit = divisor.dtype == DType::F64 ? 1000 : divisor.dtype == DType::F16 ? 13 : 120;
  if (std::abs(exponent) > limit) return false;
  rewriter.splice(root, [&] {
    const Tensor inverse = scalar_like(rewriter.tensor(operand(graph, root, 0)), 1.0 / *value);
    const bool scalar = divisor.shape.rank() == 0;
    return rewriter.tensor(operand(graph, root, 0)) *
           (scalar ? inverse : broadcast(inverse, divisor.shape));
  });
  return true;
}

// reshape(reshape(x)) = reshape(x); a reshape to the shape that is there = x
bool reshape_chain(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kReshape)) return false;
  const NodeId inner = operand(graph, root, 0);
  if (stand_for(rewriter, root, inner)) return true;
  if (!is_op(graph, inner, kReshape)) return false;
  const NodeId x = operand(graph, inner, 0);
  if (stand_for(rewriter, root, x)) return true;
  rewriter.splice(root, [&] { return reshape(rewriter.tensor(x), type_of(rewriter, root).shape); });
  return true;
}

// permute(permute(x)) is one permute; permute that leaves every axis in place = x
bool permute_chain(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kPermute)) return false;
  std::vector<int64_t> axes = graph.node(root).attrs_as<PermuteAttrs>().axes;
  const auto rank = static_cast<int64_t>(axes.size());
  bool identity = true;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t& axis = axes[static_cast<size_t>(i)];
    axis = position_of(axis, rank);
    identity = identity && axis == i;
  }
  const NodeId inner = operand(graph, root, 0);
  if (identity) return stand_for(rewriter, root, inner);
  if (!is_op(graph, inner, kPermute)) return false;
  const std::vector<int64_t> first = graph.node(inner).attrs_as<PermuteAttrs>().axes;
  for (int64_t& axis : axes) axis = position_of(first[static_cast<size_t>(axis)], rank);
  rewriter.splice(root, [&] { return permute(rewriter.tensor(operand(graph, inner, 0)), axes); });
  return true;
}

// broadcast(broadcast(x)) is one broadcast; a broadcast to the shape that is there = x
bool broadcast_chain(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kBroadcast)) return false;
  const NodeId inner = operand(graph, root, 0);
  if (stand_for(rewriter, root, inner)) return true;
  if (!is_op(graph, inner, kBroadcast)) return false;
  const NodeId x = operand(graph, inner, 0);
  rewriter.splice(root,
                  [&] { return broadcast(rewriter.tensor(x), type_of(rewriter, root).shape); });
  return true;
}

// op(x, broadcast(y)) = op(x, y) where the op's own broadcasting gives the same shape
bool implicit_broadcast(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  const Node& node = graph.node(root);
  bool binary = false;
  for (const OpDef* op : {&kAdd, &kSub, &kMul, &kDiv, &kMinimum, &kMaximum, &kCompare}) {
    binary = binary || node.op == op;
  }
  if (!binary) return false;
  for (size_t side = 0; side < 2; ++side) {
    const NodeId wide = node.operands[side];
    if (!is_op(graph, wide, kBroadcast)) continue;
    std::vector<NodeId> operands = node.operands;
    operands[side] = operand(graph, wide, 0);
    const Result<Shape> shape = broadcast_shapes(type_of(rewriter, operands[0]).shape,
                                                 type_of(rewriter, operands[1]).shape);
    if (!shape.ok() || *shape != node.type.shape) continue;
    rewriter.splice(root, [&] {
      return apply(*node.op, {rewriter.tensor(operands[0]), rewriter.tensor(operands[1])},
                   node.attrs);
    });
    return true;
  }
  return false;
}

// A slice of everything = x
bool full_slice(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kSlice)) return false;
  const auto attrs = graph.node(root).attrs_as<SliceAttrs>();
  const NodeId x = operand(graph, root, 0);
  for (const int64_t start : attrs.starts) {
    if (start != 0) return false;
  }
  for (const int64_t stride : attrs.strides) {
    if (stride != 1) return false;
  }
  return attrs.limits == type_of(rewriter, x).shape && stand_for(rewriter, root, x);
}

// concat of one part = the part
bool concat_of_one(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  return is_op(graph, root, kConcat) && graph.node(root).operands.size() == 1 &&
         stand_for(rewriter, root, operand(graph, root, 0));
}

// convert to the dtype that is there = x; convert(convert(x)) = convert(x) when the inner one holds
// every value of x, so that only the outer one rounds
bool convert_chain(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kConvert)) return false;
  const NodeId inner = operand(graph, root, 0);
  if (stand_for(rewriter, root, inner)) return true;
  if (!is_op(graph, inner, kConvert)) return false;
  const NodeId x = operand(graph, inner, 0);
  if (!holds(type_of(rewriter, inner).dtype, type_of(rewriter, x).dtype)) return false;
  if (stand_for(rewriter, root, x)) return true;
  // A float saturates into an integer type, an integer wraps.
  const DType to = type_of(rewriter, root).dtype;
  const bool is_detour = is_float(type_of(rewriter, inner).dtype);
  if (is_detour && !is_float(type_of(rewriter, x).dtype) && !is_float(to)) return false;
  rewriter.splice(root, [&] { return convert(rewriter.tensor(x), to); });
  return true;
}

constexpr Rule kRules[] = {
    {"x-times-one", multiply_by_one},
    {"x-over-one", divide_by_one},
    {"add-nothing", add_nothing},
    {"double-negation", double_negation},
    {"idempotent", idempotent},
    {"abs-of-negation", abs_of_negation},
    {"extremum-of-same", extremum_of_same},
    {"subtract-negation", subtract_negation},
    {"add-negation", add_negation},
    {"divide-by-power-of-two", divide_by_power_of_two},
    {"reshape-chain", reshape_chain},
    {"permute-chain", permute_chain},
    {"broadcast-chain", broadcast_chain},
    {"implicit-broadcast", implicit_broadcast},
    {"full-slice", full_slice},
    {"concat-of-one", concat_of_one},
    {"convert-chain", convert_chain},
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kCanonicalize.name, kRules);
}

}  // namespace

const Pass kCanonicalize{
    "canonicalize",
    "Applies identities that keep every bit, such as x * 1 = x and one reshape for two.",
    NumericEffect::Exact, run};

}  // namespace capra
