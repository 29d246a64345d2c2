// Rows of the reductions, softmax and layer norm.
#include <array>

#include "capra/ops/argmax.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/max.h"
#include "capra/ops/mean.h"
#include "capra/ops/reduction.h"
#include "capra/ops/softmax.h"
#include "capra/ops/sum.h"
#include "capra/ops/variance.h"
#include "capra/targets/cpu/kernels/data_movement.h"
#include "capra/targets/cpu/kernels/normalize.h"
#include "capra/targets/cpu/kernels/reduce.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

using kernels::ReduceOp;
using Strides = std::array<int64_t, kMaxRunRank>;

std::unique_ptr<Step> reduce_step(const KernelTable& table, ReduceOp op, uint32_t axes) {
  return strided_step([&table, op, axes](const StepCall& call) {
    const View& x = *call.operands[0];
    const View& out = call.result;
    const int64_t outputs = out.elements();
    const int64_t reduced = x.elements() / outputs;
    split(call.pool, outputs, row_grain(reduced), [&](int64_t begin, int64_t end, int) {
      kernels::reduce(table, op, element_of(x.dtype), {x.data, x.strides.data()}, x.rank,
                      x.dims.data(), axes, out.data, {begin, end});
    });
  });
}

template <ReduceOp kOp>
Result<std::unique_ptr<Step>> make_reduce(const StepRequest& request, const KernelTable& table) {
  const auto attrs = request.node.attrs_as<ReduceAttrs>();
  CAPRA_ASSIGN(const std::vector<int64_t> axes,
               reduced_axes(attrs.axes, request.operands[0]->shape.rank()));
  uint32_t mask = 0;
  for (const int64_t axis : axes) mask |= 1U << static_cast<uint32_t>(axis);
  return reduce_step(table, kOp, mask);
}
template <ReduceOp kOp>
bool takes_reduce(TypeRefs operands, const Attrs&, const TensorType&) {
  return kernels::reduce_supports(kOp, element_of(operands[0]->dtype));
}

Result<std::unique_ptr<Step>> make_argmax(const StepRequest& request, const KernelTable& table) {
  const int64_t rank = request.operands[0]->shape.rank();
  CAPRA_ASSIGN(const int64_t axis, normalize_axis(request.node.attrs_as<ArgmaxAttrs>().axis, rank));
  std::unique_ptr<Step> search =
      reduce_step(table, ReduceOp::Argmax, 1U << static_cast<uint32_t>(axis));
  return strided_step(
      [axis, search = std::shared_ptr<Step>(std::move(search))](const StepCall& call) -> Status {
        if (call.operands[0]->dim(static_cast<int>(axis)) == 0) {
          return fail("operand-shape", "the searched axis of argmax is empty", {},
                      "give inputs with at least one element there");
        }
        return search->run(call);
      });
}

void softmax_rows(const KernelTable& table, ThreadPool& pool, DType dtype, const std::byte* x,
                  std::byte* y, int64_t rows, int64_t n) {
  split(pool, rows, row_grain(n), [&](int64_t begin, int64_t end, int) {
    const size_t skip = static_cast<size_t>(begin * n) * dtype_bytes(dtype);
    kernels::softmax_rows(table, element_of(dtype), x + skip, y + skip, end - begin, n);
  });
}

Result<std::unique_ptr<Step>> make_softmax(const StepRequest& request, const KernelTable& table) {
  const int64_t rank = request.operands[0]->shape.rank();
  CAPRA_ASSIGN(const int64_t axis,
               normalize_axis(request.node.attrs_as<SoftmaxAttrs>().axis, rank));
  if (axis == rank - 1) {
    return contiguous_step(
        [&table](const StepCall& call) {
          const View& y = call.result;
          const int64_t n = y.dim(y.rank - 1);
          softmax_rows(table, call.pool, y.dtype, call.operands[0]->data, y.data, y.elements() / n,
                       n);
        },
        1);
  }
  // Another axis: its elements are brought together, normalized, and put back.
  return contiguous_step([&table, axis](const StepCall& call) {
    const View& y = call.result;
    const size_t bytes = dtype_bytes(y.dtype);
    std::byte* rows = call.scratch.get(y.byte_size());
    int64_t outer = 1;
    int64_t inner = 1;
    const int64_t n = y.dim(static_cast<int>(axis));
    for (int at = 0; at < y.rank; ++at) {
      if (at < axis) outer *= y.dim(at);
      if (at > axis) inner *= y.dim(at);
    }
    const std::array<int64_t, 3> to_rows{n * inner, 1, inner};
    const std::array<int64_t, 3> row_dims{outer, inner, n};
    kernels::copy_strided(bytes, {call.operands[0]->data, to_rows.data()}, rows, 3, row_dims.data(),
                          {0, y.elements()});
    softmax_rows(table, call.pool, y.dtype, rows, rows, outer * inner, n);
    const std::array<int64_t, 3> back{inner * n, 1, n};
    const std::array<int64_t, 3> dims{outer, n, inner};
    kernels::copy_strided(bytes, {rows, back.data()}, y.data, 3, dims.data(), {0, y.elements()});
  });
}

Result<std::unique_ptr<Step>> make_layer_norm(const StepRequest& request,
                                              const KernelTable& table) {
  const double eps = request.node.attrs_as<LayerNormAttrs>().eps;
  return contiguous_step(
      [&table, eps](const StepCall& call) {
        const View& y = call.result;
        const auto operand = [&](size_t index) -> const std::byte* {
          const bool given = index < call.operands.size() && call.operands[index] != nullptr;
          return given ? call.operands[index]->data : nullptr;
        };
        const int64_t n = y.dim(y.rank - 1);
        split(call.pool, y.elements() / n, row_grain(n), [&](int64_t begin, int64_t end, int) {
          const size_t skip = static_cast<size_t>(begin * n) * dtype_bytes(y.dtype);
          kernels::layer_norm_rows(table, element_of(y.dtype), operand(0) + skip, nullptr,
                                   operand(1), operand(2), eps, y.data + skip, end - begin, n);
        });
      },
      1);
}

}  // namespace

constinit const CpuRow kReduceRows[] = {
    {{&kSum, takes_reduce<ReduceOp::Sum>}, make_reduce<ReduceOp::Sum>},
    {{&kMax, takes_reduce<ReduceOp::Max>}, make_reduce<ReduceOp::Max>},
    {{&kMean, takes_reduce<ReduceOp::Mean>}, make_reduce<ReduceOp::Mean>},
    {{&kVariance, takes_reduce<ReduceOp::Variance>}, make_reduce<ReduceOp::Variance>},
    {{&kArgmax, takes_reduce<ReduceOp::Argmax>}, make_argmax},
    {{&kSoftmax}, make_softmax},
    {{&kLayerNorm}, make_layer_norm},
};

}  // namespace capra::cpu
