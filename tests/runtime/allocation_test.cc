// The steady state allocates nothing: every call of operator new in this program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/targets/cpu/encoder_case.h"

namespace {
std::atomic<int64_t> allocations{0};

void* counted(size_t size, size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new[](size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace capra {
namespace {

using testing::Batch;
using testing::EncoderCase;
using testing::refs;
using testing::value_of;

TEST(Allocation, TheCounterCounts) {
  const int64_t before = allocations.load();
  auto* memory = new std::vector<int>(10);
  EXPECT_GE(allocations.load() - before, 2);
  delete memory;
}

TEST(Allocation, SteadyStateAllocatesNothingWithAnySymbols) {
  const EncoderCase encoder;
  for (const int threads : {1, 3}) {
    const auto pool = std::make_shared<ThreadPool>(threads);
    const auto executable =
        value_of(compile(cpu::kTarget, encoder.graph, encoder.parameters, {.pool = pool}));
    ASSERT_NE(executable, nullptr);
    Workspace workspace = executable->make_workspace(pool);

    // The largest batch first: it sizes everything.
    std::vector<Batch> batches;
    for (const int64_t length : {90, 7, 33, 1, 64}) {
      batches.push_back(Batch::of({length, 2 * length, 3}, {1, 2, 3}));
    }
    std::vector<float> result(static_cast<size_t>(90 * 3 + 3) * 96);
    std::vector<std::vector<InputRef>> inputs;
    std::vector<std::vector<OutputRef>> outputs;
    for (const Batch& batch : batches) {
      inputs.push_back(refs(batch.inputs));
      outputs.push_back({{DType::F32, result.data(),
                          static_cast<size_t>(batch.inputs[0].elements()) * 96 * sizeof(float)}});
    }
    EXPECT_TRUE(executable->run(workspace, inputs[0], outputs[0]).ok());
    const size_t held = workspace.bytes();

    const int64_t before = allocations.load();
    bool all = true;
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (size_t i = 0; i < batches.size(); ++i) {
        all = executable->run(workspace, inputs[i], outputs[i]).ok() && all;
      }
    }
    const int64_t after = allocations.load();
    EXPECT_TRUE(all);
    EXPECT_EQ(after - before, 0) << threads << " threads";
    EXPECT_EQ(workspace.bytes(), held);
  }
}

}  // namespace
}  // namespace capra
