// Tracing moves shapes about and no numbers: tracing a model with weights of a terabyte takes no
// more memory than its nodes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "capra/ir/graph.h"
#include "tests/ir/sample_ops.h"

namespace {

size_t allocated = 0;
size_t largest = 0;

}  // namespace

// Counts what is allocated in this program, the library's own allocations included.
void* operator new(size_t size) {
  allocated += size;
  largest = size > largest ? size : largest;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

// Tensor data is made by Buffer::allocate, which calls this.
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  allocated += size;
  largest = size > largest ? size : largest;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

namespace capra {
namespace {

size_t traced_bytes(int64_t rows, int64_t columns, int layers) {
  const size_t before = allocated;
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  Tensor x = sink.input(context, "x", {DType::F32, {Dim("tokens"), rows, columns}});
  for (int layer = 0; layer < layers; ++layer) {
    const Tensor w =
        sink.parameter(context, "w" + std::to_string(10 + layer), {DType::F32, {rows, columns}});
    x = sample::neg(sample::mul(x, w));
  }
  sink.output(x, "y");
  const Graph graph = build_graph(sink.take_tape());
  EXPECT_EQ(graph.size(), 2 + 3 * layers);
  return allocated - before;
}

TEST(ShapeOnlyTrace, TheCountersSeeTensorData) {
  const size_t before = allocated;
  const Array array = Array::zeros(DType::F32, {1000, 1000});
  EXPECT_GE(allocated - before, array.byte_size());
}

TEST(ShapeOnlyTrace, AllocatesNoTensorData) {
  largest = 0;
  const size_t small = traced_bytes(1, 1, 12);
  const size_t large = traced_bytes(1 << 20, 1 << 18, 12);
  EXPECT_EQ(small, large);  // a terabyte a weight costs what one number costs
  EXPECT_LT(largest, size_t{64} << 10);
}

}  // namespace
}  // namespace capra
