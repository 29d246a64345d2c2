// What a workspace tells about its last run.
#include <gtest/gtest.h>

#include "capra/ops/arithmetic.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/sum.h"
#include "tests/targets/cpu/encoder_case.h"

namespace capra {
namespace {

using testing::Batch;
using testing::EncoderCase;
using testing::refs;
using testing::value_of;

TEST(Workspace, TimingFillsTheRecords) {
  const EncoderCase encoder;
  const auto executable = value_of(compile(cpu::kTarget, encoder.graph, encoder.parameters));
  ASSERT_NE(executable, nullptr);
  Workspace workspace = executable->make_workspace();
  workspace.set_timing(true);
  const Batch batch = Batch::of({20, 12}, {1, 2});
  value_of(executable->run(workspace, refs(batch.inputs)));
  double flops = 0;
  for (const ExecutionRecord& record : workspace.records()) {
    EXPECT_GT(record.nanoseconds, 0) << record.label;
    EXPECT_GT(record.bytes, 0) << record.label;
    flops += record.flops;
  }
  // 2 m n k of every product of two layers, with both products of attention.
  const double products = 2.0 * 32 * (4 * 96 * 96 + 2 * 96 * 200);
  const double attention = 2.0 * 2 * 96 * (20 * 20 + 12 * 12);
  EXPECT_DOUBLE_EQ(flops, 2 * (products + attention));
}

// n x n of a million million elements: its bytes cannot be counted, or there is no such memory.
TEST(Workspace, ValuesThatNoMemoryHoldsAreRefused) {
  Context context = TraceSink::begin("outer");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor column_input = sink.input(context, "column", {DType::F32, {"n", 1}});
  const Tensor row_input = sink.input(context, "row", {DType::F32, {1, "n"}});
  sink.output(sum(column_input + row_input, {.axes = {0, 1}}), "y");
  const Graph graph = build_graph(sink.take_tape());
  const auto executable = value_of(compile(cpu::kTarget, graph, {}));
  Workspace workspace = executable->make_workspace();
  for (const int64_t n : {int64_t{1} << 25, int64_t{1} << 33, int64_t{1} << 40}) {
    const std::vector<int64_t> column{n, 1};
    const std::vector<int64_t> row{1, n};
    // Refused before anything is read.
    const std::vector<InputRef> inputs{{DType::F32, column, nullptr}, {DType::F32, row, nullptr}};
    const auto outputs = executable->run(workspace, inputs);
    ASSERT_FALSE(outputs.ok()) << n;
    EXPECT_EQ(outputs.error().code, "shape-too-large") << n;
  }
  // The workspace serves on.
  Array column = Array::zeros(DType::F32, {3, 1});
  Array row = Array::zeros(DType::F32, {1, 3});
  for (int64_t i = 0; i < 3; ++i) column.set(i, static_cast<double>(i));
  const std::vector<InputRef> inputs{column, row};
  EXPECT_EQ(value_of(executable->run(workspace, inputs)).front().f64_at(0), 9);
}

TEST(Workspace, AnEagerResultThatNoMemoryHoldsIsRefused) {
  const Context context = cpu::kTarget.eager(nullptr, nullptr);
  const Tensor one = Tensor::of_data(context, Array::scalar(DType::F32, 1));
  try {
    broadcast(one, {int64_t{1} << 29, int64_t{1} << 29});
    FAIL() << "made 2^60 bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().code, "out-of-memory");
  }
}

}  // namespace
}  // namespace capra
