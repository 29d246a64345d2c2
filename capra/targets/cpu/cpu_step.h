// What the rows of the cpu share: the row type, steps from functions, and splitting work.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "capra/ops/op_table.h"
#include "capra/runtime/step.h"
#include "capra/targets/cpu/kernels/element.h"
#include "capra/targets/cpu/kernels/kernel_table.h"

namespace capra::cpu {

using kernels::Element;
using kernels::KernelTable;

static_assert(static_cast<int>(DType::F64) == static_cast<int>(Element::F64));
static_assert(static_cast<int>(DType::BF16) == static_cast<int>(Element::BF16));
static_assert(static_cast<int>(DType::I8) == static_cast<int>(Element::I8));
static_assert(static_cast<int>(DType::Bool) == static_cast<int>(Element::Bool));

constexpr Element element_of(DType dtype) { return static_cast<Element>(dtype); }

using MakeCpuStep = Result<std::unique_ptr<Step>> (*)(const StepRequest& request,
                                                      const KernelTable& table);

/// A row and how its step is made.
struct CpuRow : OpRow {
  MakeCpuStep make = nullptr;
};

/// A step that is one function; it takes any strides if `Strided`, else row-major operands. Its
/// result may overwrite the first `overwrites` operands.
template <class Run, bool kStrided>
class FunctionStep : public Step {
 public:
  FunctionStep(Run run, size_t overwrites) : run_(std::move(run)), overwrites_(overwrites) {}
  bool may_overwrite(size_t index) const override { return index < overwrites_; }
  bool takes_strided(size_t) const override { return kStrided; }
  Status run(const StepCall& call) const override {
    if constexpr (std::is_void_v<decltype(run_(call))>) {
      run_(call);
      return {};
    } else {
      return run_(call);
    }
  }

 private:
  Run run_;
  size_t overwrites_;
};

template <class Run>
std::unique_ptr<Step> contiguous_step(Run run, size_t overwrites = 0) {
  return std::make_unique<FunctionStep<Run, false>>(std::move(run), overwrites);
}
template <class Run>
std::unique_ptr<Step> strided_step(Run run, size_t overwrites = 0) {
  return std::make_unique<FunctionStep<Run, true>>(std::move(run), overwrites);
}

/// Cuts [0, total) into ranges of about `grain` or more and calls `body(begin, end, worker)` for
/// each on the pool. How a range is cut never changes a result.
template <class Body>
void split(ThreadPool& pool, int64_t total, int64_t grain, const Body& body) {
  const int64_t most = (total + grain - 1) / grain;
  const int64_t tasks = std::max<int64_t>(1, std::min<int64_t>(most, 4 * pool.threads()));
  pool.run(tasks, [&](int64_t task, int worker) {
    body(total * task / tasks, total * (task + 1) / tasks, worker);
  });
}

/// Elements a task should have at least when one costs about a nanosecond.
inline constexpr int64_t kGrain = 8192;

/// Rows of `n` elements that make up a task.
inline int64_t row_grain(int64_t n) {
  return std::max<int64_t>(1, kGrain / 2 / std::max<int64_t>(n, 1));
}

/// A multiple of the alignment of scratch.
constexpr size_t aligned(size_t bytes) {
  return (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
}

}  // namespace capra::cpu
