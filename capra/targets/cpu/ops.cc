// The table: the rows of all families in one list.
#include "capra/targets/cpu/ops.h"

#include <array>

#include "capra/ir/structural_ops.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

template <size_t... kSizes>
constexpr auto join(const CpuRow (&... rows)[kSizes]) {
  std::array<const OpRow*, (kSizes + ...)> all{};
  size_t next = 0;
  const auto add = [&](const CpuRow* row, size_t count) {
    for (size_t index = 0; index < count; ++index) all[next++] = row + index;
  };
  (add(rows, kSizes), ...);
  return all;
}

constinit const auto kRows =
    join(kElementwiseRows, kDataRows, kReduceRows, kProductRows, kAttentionRows);

}  // namespace

constinit const OpTable kOpTable{kRows};

Result<std::unique_ptr<Step>> make_cpu_step(const StepRequest& request, const KernelTable& table) {
  if (request.node.op == &kGroup) return make_group(request, table);
  return static_cast<const CpuRow*>(request.row)->make(request, table);
}

}  // namespace capra::cpu
