// What a workspace tells about its last run.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace capra
