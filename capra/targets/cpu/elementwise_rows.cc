// Rows of the elementwise ops.
#include "capra/targets/cpu/kernels/elementwise.h"

#include <array>

#include "capra/ops/abs.h"
#include "capra/ops/add.h"
#include "capra/ops/compare.h"
#include "capra/ops/convert.h"
#include "capra/ops/div.h"
#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/exp.h"
#include "capra/ops/gelu.h"
#include "capra/ops/log.h"
#include "capra/ops/logical_and.h"
#include "capra/ops/logical_not.h"
#include "capra/ops/logical_or.h"
#include "capra/ops/maximum.h"
#include "capra/ops/minimum.h"
#include "capra/ops/mul.h"
#include "capra/ops/neg.h"
#include "capra/ops/relu.h"
#include "capra/ops/rsqrt.h"
#include "capra/ops/select.h"
#include "capra/ops/sigmoid.h"
#include "capra/ops/silu.h"
#include "capra/ops/sqrt.h"
#include "capra/ops/sub.h"
#include "capra/ops/tanh.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

using kernels::BinaryOp;
using kernels::CompareOp;
using kernels::Range;
using kernels::Strided;
using kernels::UnaryOp;
using Strides = std::array<int64_t, kMaxRunRank>;

static_assert(kMaxRunRank <= kernels::kMaxRank);

// Strides of `operand` for each dim of `result`: 0 where it is broadcast.
Strides broadcast_strides(const View& operand, const View& result) {
  Strides strides{};
  const int lead = result.rank - operand.rank;
  for (int axis = lead; axis < result.rank; ++axis) {
    if (operand.dim(axis - lead) != 1) {
      strides[static_cast<size_t>(axis)] = operand.stride(axis - lead);
    }
  }
  return strides;
}

std::unique_ptr<Step> unary_step(const KernelTable& table, UnaryOp op) {
  return contiguous_step(
      [&table, op](const StepCall& call) {
        const View& x = *call.operands[0];
        const View& y = call.result;
        const size_t bytes = dtype_bytes(x.dtype);
        split(call.pool, y.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
          const size_t skip = static_cast<size_t>(begin) * bytes;
          kernels::unary(table, op, element_of(x.dtype), x.data + skip, y.data + skip, end - begin);
        });
      },
      1);
}

template <UnaryOp kOp>
Result<std::unique_ptr<Step>> make_unary(const StepRequest&, const KernelTable& table) {
  return unary_step(table, kOp);
}
template <UnaryOp kOp>
bool takes_unary(TypeRefs operands, const Attrs&, const TensorType&) {
  return kernels::unary_supports(kOp, element_of(operands[0]->dtype));
}
template <const OpDef& kOpDef, UnaryOp kOp>
constexpr CpuRow unary_row() {
  return {{&kOpDef, takes_unary<kOp>}, make_unary<kOp>};
}

Result<std::unique_ptr<Step>> make_gelu(const StepRequest& request, const KernelTable& table) {
  const bool approximate = request.node.attrs_as<GeluAttrs>().approximate;
  return unary_step(table, approximate ? UnaryOp::GeluTanh : UnaryOp::GeluExact);
}

template <BinaryOp kOp>
Result<std::unique_ptr<Step>> make_binary(const StepRequest&, const KernelTable& table) {
  return strided_step(
      [&table](const StepCall& call) {
        const View& a = *call.operands[0];
        const View& b = *call.operands[1];
        const View& out = call.result;
        const Strides a_strides = broadcast_strides(a, out);
        const Strides b_strides = broadcast_strides(b, out);
        split(call.pool, out.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
          kernels::binary(table, kOp, element_of(out.dtype), {a.data, a_strides.data()},
                          {b.data, b_strides.data()}, out.data, out.rank, out.dims.data(),
                          {begin, end});
        });
      },
      2);
}
template <BinaryOp kOp>
bool takes_binary(TypeRefs operands, const Attrs&, const TensorType&) {
  return kernels::binary_supports(kOp, element_of(operands[0]->dtype));
}
template <const OpDef& kOpDef, BinaryOp kOp>
constexpr CpuRow binary_row() {
  return {{&kOpDef, takes_binary<kOp>}, make_binary<kOp>};
}

CompareOp compare_op(std::string_view direction) {
  if (direction == "eq") return CompareOp::Eq;
  if (direction == "ne") return CompareOp::Ne;
  if (direction == "lt") return CompareOp::Lt;
  if (direction == "le") return CompareOp::Le;
  if (direction == "gt") return CompareOp::Gt;
  CAPRA_CHECK(direction == "ge");
  return CompareOp::Ge;
}

Result<std::unique_ptr<Step>> make_compare(const StepRequest& request, const KernelTable& table) {
  const CompareOp op = compare_op(request.node.attrs_as<CompareAttrs>().direction);
  return strided_step([&table, op](const StepCall& call) {
    const View& a = *call.operands[0];
    const View& b = *call.operands[1];
    const View& out = call.result;
    const Strides a_strides = broadcast_strides(a, out);
    const Strides b_strides = broadcast_strides(b, out);
    split(call.pool, out.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
      kernels::compare(table, op, element_of(a.dtype), {a.data, a_strides.data()},
                       {b.data, b_strides.data()}, out.data, out.rank, out.dims.data(),
                       {begin, end});
    });
  });
}

Result<std::unique_ptr<Step>> make_select(const StepRequest&, const KernelTable& table) {
  return strided_step([&table](const StepCall& call) {
    const View& condition = *call.operands[0];
    const View& a = *call.operands[1];
    const View& b = *call.operands[2];
    const View& out = call.result;
    const Strides c_strides = broadcast_strides(condition, out);
    const Strides a_strides = broadcast_strides(a, out);
    const Strides b_strides = broadcast_strides(b, out);
    split(call.pool, out.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
      kernels::select(table, element_of(out.dtype), {condition.data, c_strides.data()},
                      {a.data, a_strides.data()}, {b.data, b_strides.data()}, out.data, out.rank,
                      out.dims.data(), {begin, end});
    });
  });
}

Result<std::unique_ptr<Step>> make_convert(const StepRequest&, const KernelTable&) {
  return contiguous_step([](const StepCall& call) {
    const View& x = *call.operands[0];
    const View& y = call.result;
    split(call.pool, y.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
      kernels::convert(element_of(x.dtype),
                       x.data + static_cast<size_t>(begin) * dtype_bytes(x.dtype),
                       element_of(y.dtype),
                       y.data + static_cast<size_t>(begin) * dtype_bytes(y.dtype), end - begin);
    });
  });
}

}  // namespace

constinit const CpuRow kElementwiseRows[] = {
    binary_row<kAdd, BinaryOp::Add>(),
    binary_row<kSub, BinaryOp::Sub>(),
    binary_row<kMul, BinaryOp::Mul>(),
    binary_row<kDiv, BinaryOp::Div>(),
    binary_row<kMinimum, BinaryOp::Min>(),
    binary_row<kMaximum, BinaryOp::Max>(),
    binary_row<kLogicalAnd, BinaryOp::And>(),
    binary_row<kLogicalOr, BinaryOp::Or>(),
    unary_row<kLogicalNot, UnaryOp::Not>(),
    unary_row<kNeg, UnaryOp::Neg>(),
    unary_row<kAbs, UnaryOp::Abs>(),
    unary_row<kExp, UnaryOp::Exp>(),
    unary_row<kLog, UnaryOp::Log>(),
    unary_row<kSqrt, UnaryOp::Sqrt>(),
    unary_row<kRsqrt, UnaryOp::Rsqrt>(),
    unary_row<kTanh, UnaryOp::Tanh>(),
    unary_row<kErf, UnaryOp::Erf>(),
    unary_row<kErfc, UnaryOp::Erfc>(),
    unary_row<kSigmoid, UnaryOp::Sigmoid>(),
    unary_row<kSilu, UnaryOp::Silu>(),
    unary_row<kRelu, UnaryOp::Relu>(),
    {{&kGelu, takes_unary<UnaryOp::GeluExact>}, make_gelu},
    {{&kCompare}, make_compare},
    {{&kSelect}, make_select},
    {{&kConvert}, make_convert},
};

}  // namespace capra::cpu
