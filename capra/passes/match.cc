// Structural matching.
#include "capra/passes/match.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "capra/ir/structural_ops.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/constant.h"
#include "capra/ops/permute.h"
#include "capra/ops/reshape.h"

namespace capra {
namespace {

/// Mantissa bits and exponent range of a float, value bits of an integer.
struct Range {
  int digits = 0;
  int max_exponent = 0;
  int min_exponent = 0;  ///< of the least subnormal
};

std::optional<Range> range_of(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return Range{53, 1024, -1074};
    case DType::F32:
      return Range{24, 128, -149};
    case DType::F16:
      return Range{11, 16, -24};
    case DType::BF16:
      return Range{8, 128, -133};
    default:
      break;
  }
  if (!is_integer(dtype)) return std::nullopt;
  const int bits = static_cast<int>(dtype_bytes(dtype)) * 8 - (is_signed_integer(dtype) ? 1 : 0);
  return Range{bits, bits, 0};
}

}  // namespace

std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<bool> live(static_cast<size_t>(graph.size()), false);
  for (NodeId id = graph.size(); id-- > 0;) {
    const Node& node = graph.node(id);
    const auto index = static_cast<size_t>(id);
    live[index] = live[index] || node.op == &kOutput || node.op == &kInput;
    if (!live[index]) continue;
    for (const NodeId operand : node.operands) {
      if (operand != kAbsent) live[static_cast<size_t>(operand)] = true;
    }
  }
  return live;
}

NodeId operand(const Graph& graph, NodeId id, size_t index) {
  const std::vector<NodeId>& operands = graph.node(id).operands;
  return index < operands.size() ? operands[index] : kAbsent;
}

std::array<std::pair<NodeId, NodeId>, 2> both_orders(const Graph& graph, NodeId id) {
  const NodeId a = operand(graph, id, 0);
  const NodeId b = operand(graph, id, 1);
  return {std::pair{a, b}, std::pair{b, a}};
}

std::optional<double> splat(const Graph& graph, NodeId id) {
  while (is_op(graph, id, kBroadcast) || is_op(graph, id, kReshape) || is_op(graph, id, kPermute)) {
    id = operand(graph, id, 0);
  }
  if (!is_op(graph, id, kConstant)) return std::nullopt;
  const Array value = graph.node(id).attrs_as<ConstantAttrs>().value;
  if (value.elements() == 0) return std::nullopt;
  const size_t size = dtype_bytes(value.dtype());
  for (int64_t i = 1; i < value.elements(); ++i) {
    if (std::memcmp(value.data(), value.data() + static_cast<size_t>(i) * size, size) != 0) {
      return std::nullopt;
    }
  }
  return value.f64_at(0);
}

bool is_number(DType dtype, double found, double wanted) {
  double tolerance = 0;
  switch (dtype) {
    case DType::F64:
      tolerance = 1e-10;  // ten digits, as in 0.7978845608
      break;
    case DType::F32:
      tolerance = 2.5e-7;  // seven digits, as in 0.7978846
      break;
    case DType::F16:
      tolerance = 0x1p-11;
      break;
    case DType::BF16:
      tolerance = 0x1p-8;
      break;
    default:
      break;
  }
  return std::abs(found - wanted) <= tolerance * std::abs(wanted);
}

int64_t position_of(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

bool swaps_last_two(std::span<const int64_t> axes) {
  const auto rank = static_cast<int64_t>(axes.size());
  if (rank < 2) return false;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t wanted = i == rank - 2 ? rank - 1 : i == rank - 1 ? rank - 2 : i;
    if (position_of(axes[static_cast<size_t>(i)], rank) != wanted) return false;
  }
  return true;
}

bool unobserved(const std::vector<std::vector<NodeId>>& users, std::span<const NodeId> inside,
                NodeId root) {
  return std::ranges::all_of(inside, [&](NodeId id) {
    return id == root || std::ranges::all_of(users[static_cast<size_t>(id)], [&](NodeId user) {
             return std::ranges::find(inside, user) != inside.end();
           });
  });
}

bool holds(DType to, DType from) {
  const std::optional<Range> wide = range_of(to);
  const std::optional<Range> narrow = range_of(from);
  if (!wide || !narrow) return to == from;
  if (is_float(from) && !is_float(to)) return false;
  if (is_signed_integer(from) && is_integer(to) && !is_signed_integer(to)) return false;
  return wide->digits >= narrow->digits && wide->max_exponent >= narrow->max_exponent &&
         wide->min_exponent <= narrow->min_exponent;
}

}  // namespace capra
