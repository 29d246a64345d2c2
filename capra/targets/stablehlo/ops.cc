// The rows of all families in one list.
#include "capra/targets/stablehlo/ops.h"

#include <array>

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

}  // namespace

constinit const OpTable kOpTable{kRows};
constinit const OpTable kOpTableWithoutChlo{kRowsWithoutChlo};

}  // namespace capra::stablehlo
