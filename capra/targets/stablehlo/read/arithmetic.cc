// Elementwise operations, comparisons, products and reductions.
#include "capra/targets/stablehlo/read/arithmetic.h"

#include <algorithm>
#include <numeric>

#include "capra/ops/abs.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/compare.h"
#include "capra/ops/convert.h"
#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/exp.h"
#include "capra/ops/log.h"
#include "capra/ops/logical_and.h"
#include "capra/ops/logical_not.h"
#include "capra/ops/logical_or.h"
#include "capra/ops/matmul.h"
#include "capra/ops/max.h"
#include "capra/ops/maximum.h"
#include "capra/ops/minimum.h"
#include "capra/ops/permute.h"
#include "capra/ops/select.h"
#include "capra/ops/sqrt.h"
#include "capra/ops/sum.h"
#include "capra/ops/tanh.h"

namespace capra::stablehlo {
namespace {

using Ints = std::vector<int64_t>;

struct ElementwiseRow {
  std::string_view name;
  const OpDef* op;
  bool is_logical = false;  ///< of bools; of integers there is no op
};

constexpr ElementwiseRow kElementwise[] = {
    {"chlo.erf", &kErf},
    {"chlo.erfc", &kErfc},
    {"stablehlo.abs", &kAbs},
    {"stablehlo.add", &kAdd},
    {"stablehlo.and", &kLogicalAnd, true},
    {"stablehlo.divide", &kDiv},
    {"stablehlo.exponential", &kExp},
    {"stablehlo.log", &kLog},
    {"stablehlo.maximum", &kMaximum},
    {"stablehlo.minimum", &kMinimum},
    {"stablehlo.multiply", &kMul},
    {"stablehlo.negate", &kNeg},
    {"stablehlo.not", &kLogicalNot, true},
    {"stablehlo.or", &kLogicalOr, true},
    {"stablehlo.select", &kSelect},
    {"stablehlo.sqrt", &kSqrt},
    {"stablehlo.subtract", &kSub},
    {"stablehlo.tanh", &kTanh},
};

// The elements are numbered from the other end: the greatest becomes the least.
Tensor turned(const Tensor& x) { return is_float(x.dtype()) ? -x : scalar_like(x, -1) - x; }

Tensor least(const Tensor& x, const ReduceAttrs& attrs) {
  const Tensor from = turned(x);
  const Tensor greatest = max(from, attrs);
  return turned(greatest);
}

// What is reduced, and then the initial value: the dialect lets it take part in any order.
Tensor reduce(const Operation& operation, const Tensor& x, const Tensor& initial) {
  const std::string& applies = operation.attribute<std::string>("applies");
  const ReduceAttrs attrs{.axes = operation.attribute<Ints>("dimensions")};
  const bool is_sum = applies == "stablehlo.add";
  const bool is_greatest = applies == "stablehlo.maximum";
  Tensor reduced = x;
  if (!attrs.axes.empty()) {  // none would stand for all
    reduced = is_sum ? sum(x, attrs) : is_greatest ? max(x, attrs) : least(x, attrs);
  }
  if (is_sum) return reduced + initial;
  return is_greatest ? maximum(reduced, initial) : minimum(reduced, initial);
}

// x with the batching axes first, then all others but `contracted`, then that; x itself where this
// changes nothing.
Tensor along(const Tensor& x, const Ints& batching, int64_t contracted) {
  Ints axes = batching;
  for (int64_t axis = 0; axis < x.shape().rank(); ++axis) {
    if (axis != contracted && std::ranges::find(batching, axis) == batching.end()) {
      axes.push_back(axis);
    }
  }
  axes.push_back(contracted);
  return std::ranges::is_sorted(axes) ? x : permute(x, axes);
}

Tensor product(const Operation& operation, const Tensor& a, const Tensor& b) {
  const Ints& batching = operation.attribute<Ints>("batching");
  const auto count = static_cast<int64_t>(batching.size());
  const bool is_batch = a.shape().rank() == count + 2 || count == 0;
  if (!is_batch || b.shape().rank() != count + 2 || a.shape().rank() < 2) {
    throw Error({"op-not-legal",
                 "no op says this product of " + a.type().text() + " and " + b.type().text(),
                 {},
                 "one dim of each operand is left beside those that batch and contract"});
  }
  const DType dtype = operation.type.dtype;
  const Tensor wide_a = a.dtype() == dtype ? a : convert(a, dtype);
  const Tensor wide_b = b.dtype() == dtype ? b : convert(b, dtype);
  const Tensor left = along(wide_a, batching, operation.attribute<int64_t>("left"));
  const Tensor right = along(wide_b, batching, operation.attribute<int64_t>("right"));
  return matmul(left, right, {.transpose_b = true});
}

Tensor compared(const Operation& operation, const Tensor& a, const Tensor& b) {
  std::string direction = operation.attribute<std::string>("direction");
  for (char& c : direction) c = static_cast<char>(c - 'A' + 'a');
  return compare(a, b, {direction});
}

}  // namespace

std::optional<Tensor> import_arithmetic(const Context& context, const Operation& operation,
                                        std::span<const Tensor> operands) {
  const std::string_view name = operation.name;
  const auto* row = std::ranges::find(kElementwise, name, &ElementwiseRow::name);
  if (row != std::end(kElementwise)) {
    if (row->is_logical && operands[0].dtype() != DType::Bool) {
      throw Error({"op-not-legal", "no op says what " + std::string(name) + " does with bits of " +
                                       operands[0].type().text()});
    }
    return apply(*row->op, operands, {}, context);
  }
  if (name == "stablehlo.convert") return convert(operands[0], operation.type.dtype);
  if (name == "stablehlo.compare") return compared(operation, operands[0], operands[1]);
  if (name == "stablehlo.dot_general") return product(operation, operands[0], operands[1]);
  if (name == "stablehlo.reduce") return reduce(operation, operands[0], operands[1]);
  return std::nullopt;
}

}  // namespace capra::stablehlo
