// The rows of all families in one list.
#include "capra/targets/stablehlo/ops.h"

#include <array>

#include "capra/ops/gelu.h"
#include "capra/ops/linear.h"
#include "capra/ops/mean.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/softmax.h"
#include "capra/ops/variance.h"
#include "capra/targets/stablehlo/rows.h"

namespace capra::stablehlo {
namespace {

template <size_t... kSizes>
constexpr auto join(const StablehloRow (&... rows)[kSizes]) {
  std::array<const OpRow*, (kSizes + ...)> all{};
  size_t next = 0;
  const auto add = [&](const StablehloRow* row, size_t count) {
    for (size_t index = 0; index < count; ++index) all[next++] = row + index;
  };
  (add(rows, kSizes), ...);
  return all;
}

constinit const auto kRows = join(kDataRows, kElementwiseRows, kReduceRows, kChloRows);
constinit const auto kRowsWithoutChlo =
    join(kDataRows, kElementwiseRows, kReduceRows, kErfSequenceRows);

// Of ops that these rows compute as decompositions, by a compiler.
constexpr OpBound kBounds[] = {
    {&kGelu, {.max_abs = 2e-6, .max_ulp = 4}, kOwnFunctions},
    {&kLinear, {.max_ulp = 2, .max_ulp_per_term = 1, .note = kOfMagnitudes}, kAnyOrder},
    {&kMean, {.max_ulp = 2, .max_ulp_per_term = 1, .note = kOfMagnitudes}, kAnyOrder},
    {&kSoftmax, {.max_abs = 5e-7, .max_ulp = 8, .max_ulp_per_term = 1}, kAnyOrder},
    {&kVariance,
     {.max_ulp = 32,
      .max_ulp_per_term = 2,
      .note = "for a mean within a few standard deviations of 0"},
     kAnyOrder},
};

}  // namespace

constinit const OpTable kOpTable{kRows, kBounds};
constinit const OpTable kOpTableWithoutChlo{kRowsWithoutChlo, kBounds};

const OpTable& without_extensions(const OpTable& own, const std::vector<std::string>& names) {
  return &own == &kOpTable && !names.empty() ? kOpTableWithoutChlo : own;
}

}  // namespace capra::stablehlo
