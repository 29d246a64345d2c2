// A whole encoder on the cpu: eager and optimized, alone and in a batch, on every number of threads
// and every instruction set the bits are the same; and they are near the oracle.
#include <cmath>
#include <thread>

#include "capra/interp/interp.h"
#include "capra/passes/fusion_labels.h"
#include "tests/targets/cpu/encoder_case.h"

namespace capra {
namespace {

using testing::Batch;
using testing::EncoderCase;
using testing::refs;
using testing::run_compiled;
using testing::run_eager;
using testing::value_of;

// Equal bytes, with the first difference named.
void expect_same(const std::vector<Array>& a, const std::vector<Array>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t index = 0; index < a.size(); ++index) {
    EXPECT_TRUE(a[index] == b[index]) << what << ", output " << index;
  }
}

TEST(CpuEncoder, EagerAndOptimizedAreTheSameBits) {
  const EncoderCase encoder({.states = true});
  const Batch batch = Batch::of({5, 1, 17, 30}, {1, 2, 3, 4});
  const auto eager = run_eager(cpu::kTarget, encoder.graph, encoder.parameters, batch.inputs);
  const auto optimized =
      run_compiled(cpu::kTarget, encoder.graph, encoder.parameters, batch.inputs);
  const auto plain =
      run_compiled(cpu::kTarget, encoder.graph, encoder.parameters, batch.inputs, 1, false);
  expect_same(eager, optimized, "optimized");
  expect_same(eager, plain, "legalized only");
}

TEST(CpuEncoder, WithoutStatesTheFusionsRunAndChangeNothing) {
  const EncoderCase encoder;
  const Batch batch = Batch::of({5, 1, 17, 30}, {1, 2, 3, 4});
  const auto executable = value_of(compile(cpu::kTarget, encoder.graph, encoder.parameters));
  ASSERT_NE(executable, nullptr);
  Workspace workspace = executable->make_workspace();
  const auto optimized = value_of(executable->run(workspace, refs(batch.inputs)));
  expect_same(run_eager(cpu::kTarget, encoder.graph, encoder.parameters, batch.inputs), optimized,
              "optimized");
  std::vector<std::string> labels;
  for (const ExecutionRecord& record : workspace.records()) labels.push_back(record.label);
  std::vector<std::string> expected{std::string(kFusedEmbeddingLayerNorm)};
  for (int layer = 0; layer < 2; ++layer) {
    for (const std::string_view label : {kFusedQkv, kFusedAttentionQkv, kFusedLinearAddLayerNorm,
                                         kFusedLinearActivation, kFusedLinearAddLayerNorm}) {
      expected.emplace_back(label);
    }
  }
  EXPECT_EQ(labels, expected);
}

TEST(CpuEncoder, ThreadsAndInstructionSetsAreTheSameBits) {
  const EncoderCase encoder;
  const Batch batch = Batch::of({33, 2, 64}, {5, 6, 7});
  const auto reference =
      run_compiled(cpu::kTarget, encoder.graph, encoder.parameters, batch.inputs);
  for (const Target* target : testing::cpu_targets()) {
    for (const int threads : {1, 2, 3, 8}) {
      expect_same(reference,
                  run_compiled(*target, encoder.graph, encoder.parameters, batch.inputs, threads),
                  "compiled");
    }
    expect_same(reference, run_eager(*target, encoder.graph, encoder.parameters, batch.inputs, 3),
                "eager");
  }
}

TEST(CpuEncoder, ASequenceDoesNotDependOnItsBatch) {
  const EncoderCase encoder;
  const EncoderCase single({.form = SequenceForm::Single});
  const auto pool = std::make_shared<ThreadPool>(2);
  const auto packed = value_of(compile(cpu::kTarget, encoder.graph, encoder.parameters));
  const auto alone = value_of(compile(cpu::kTarget, single.graph, single.parameters));
  ASSERT_NE(packed, nullptr);
  ASSERT_NE(alone, nullptr);
  Workspace packed_space = packed->make_workspace(pool);
  Workspace alone_space = alone->make_workspace();
  for (int64_t length = 1; length <= 80; length += 6) {
    const Batch batch = Batch::of({3, length, 40}, {11, 12, 13});
    const auto together = value_of(packed->run(packed_space, refs(batch.inputs)));
    const Batch one = Batch::of({length}, {12});
    const auto own = value_of(packed->run(packed_space, refs(one.inputs)));
    const auto only = value_of(alone->run(alone_space, refs({one.inputs[0]})));
    ASSERT_EQ(together.size(), 1U);
    const auto rows = together[0].as<float>().subspan(3 * 96, static_cast<size_t>(length) * 96);
    const std::vector<float> part(rows.begin(), rows.end());
    const Array expected = Array::of<float>(DType::F32, {length, 96}, part);
    EXPECT_TRUE(own[0] == expected) << length;
    EXPECT_TRUE(only[0] == expected) << length;
  }
}

TEST(CpuEncoder, ManyCallersShareOneExecutable) {
  const EncoderCase encoder;
  const auto pool = std::make_shared<ThreadPool>(2);
  const auto executable =
      value_of(compile(cpu::kTarget, encoder.graph, encoder.parameters, {.pool = pool}));
  ASSERT_NE(executable, nullptr);
  constexpr int kCallers = 6;
  std::vector<Batch> batches;
  std::vector<std::vector<Array>> expected;
  for (int caller = 0; caller < kCallers; ++caller) {
    batches.push_back(Batch::of({1 + 3 * caller, 20}, {static_cast<uint64_t>(caller), 50}));
    expected.push_back(
        run_eager(cpu::kTarget, encoder.graph, encoder.parameters, batches.back().inputs));
  }
  std::vector<int> same(kCallers, 0);
  std::vector<std::thread> threads;
  for (size_t caller = 0; caller < kCallers; ++caller) {
    threads.emplace_back([&, caller] {
      // Half of them share a pool, half have their own thread.
      Workspace workspace = executable->make_workspace(caller % 2 == 0 ? pool : nullptr);
      for (int repeat = 0; repeat < 5; ++repeat) {
        const auto result = executable->run(workspace, refs(batches[caller].inputs));
        if (result.ok() && *result == expected[caller]) ++same[caller];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(kCallers, 5));
}

// The oracle evaluates the definitions in double precision.
TEST(CpuEncoder, IsNearTheOracle) {
  const Batch batch = Batch::of({9, 40}, {21, 22});
  for (const DType dtype : {DType::F32, DType::F64}) {
    const EncoderCase encoder({.dtype = dtype});
    const auto computed =
        run_compiled(cpu::kTarget, encoder.graph, encoder.parameters, batch.inputs);
    const auto exact = value_of(interpret(encoder.graph, batch.inputs, encoder.parameters));
    ASSERT_EQ(computed.size(), 1U);
    ASSERT_EQ(exact.size(), 1U);
    double most = 0;
    for (int64_t i = 0; i < exact[0].elements(); ++i) {
      most = std::max(most, std::abs(exact[0].f64_at(i) - computed[0].f64_at(i)));
    }
    EXPECT_LT(most, dtype == DType::F32 ? 5e-6 : 5e-13) << dtype_name(dtype);
  }
}

TEST(CpuEncoder, F64IsTheSameBitsEagerAndCompiledOnAnyThreads) {
  const EncoderCase encoder({.dtype = DType::F64});
  const Batch batch = Batch::of({7, 12}, {31, 32});
  const auto eager = run_eager(cpu::kTarget, encoder.graph, encoder.parameters, batch.inputs);
  for (const Target* target : testing::cpu_targets()) {
    expect_same(eager, run_compiled(*target, encoder.graph, encoder.parameters, batch.inputs, 3),
                "f64");
  }
}

std::string failure_code(const Result<std::vector<Array>>& result) {
  return result.ok() ? "none" : result.error().code;
}

TEST(CpuEncoder, BadInputsAreNamed) {
  const EncoderCase encoder;
  const auto executable = value_of(compile(cpu::kTarget, encoder.graph, encoder.parameters));
  ASSERT_NE(executable, nullptr);
  Workspace workspace = executable->make_workspace();
  const auto code = [&](const std::vector<Array>& inputs) {
    return failure_code(executable->run(workspace, refs(inputs)));
  };
  const Batch good = Batch::of({4, 6}, {1, 2});
  EXPECT_EQ(code(good.inputs), "none");

  Batch bad = Batch::of({4, 6}, {1, 2});
  bad.inputs[0].set(3, 1000);
  EXPECT_EQ(code(bad.inputs), "index-out-of-range");
  bad.inputs[0].set(3, -1);
  EXPECT_EQ(code(bad.inputs), "index-out-of-range");

  for (const auto& [position, value] :
       std::vector<std::pair<int64_t, double>>{{0, 1}, {1, 11}, {2, 9}, {2, 11}, {1, -4}}) {
    bad = Batch::of({4, 6}, {1, 2});
    bad.inputs[2].set(position, value);
    EXPECT_EQ(code(bad.inputs), "offsets-invalid") << position << " " << value;
  }

  EXPECT_EQ(code({good.inputs[0], good.inputs[1]}), "input-count");
  EXPECT_EQ(code({Array::zeros(DType::F32, {10}), good.inputs[1], good.inputs[2]}), "input-type");
  EXPECT_EQ(code({Array::zeros(DType::I32, {10, 1}), good.inputs[1], good.inputs[2]}),
            "input-type");
  EXPECT_EQ(code({Array::zeros(DType::I32, {9}), good.inputs[1], good.inputs[2]}),
            "symbol-conflict");

  std::vector<float> small(9 * 96);
  const std::vector<OutputRef> outputs{{DType::F32, small.data(), small.size() * sizeof(float)}};
  const Status status = executable->run(workspace, refs(good.inputs), outputs);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "output-size");
  const Status none = executable->run(workspace, refs(good.inputs), {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, "output-count");

  // After any failure the workspace still computes.
  EXPECT_EQ(code(good.inputs), "none");
}

TEST(CpuEncoder, MoreTokensThanPositionsAreRefused) {
  const EncoderCase single({.form = SequenceForm::Single});
  const auto executable = value_of(compile(cpu::kTarget, single.graph, single.parameters));
  ASSERT_NE(executable, nullptr);
  Workspace workspace = executable->make_workspace();
  const Batch longest = Batch::of({512}, {1});
  EXPECT_EQ(failure_code(executable->run(workspace, refs({longest.inputs[0]}))), "none");
  const Batch longer = Batch::of({513}, {1});
  EXPECT_EQ(failure_code(executable->run(workspace, refs({longer.inputs[0]}))),
            "slice-out-of-range");
}

TEST(CpuEncoder, NoTokensGiveNoRows) {
  const EncoderCase encoder;
  const std::vector<Array> inputs{Array::zeros(DType::I32, {0}), Array::zeros(DType::I32, {0}),
                                  Array::zeros(DType::I32, {1})};
  const auto result = run_compiled(cpu::kTarget, encoder.graph, encoder.parameters, inputs);
  ASSERT_EQ(result.size(), 1U);
  EXPECT_EQ(result[0].sizes(), (std::vector<int64_t>{0, 96}));
}

TEST(CpuEncoder, AMissingOrWrongParameterIsNamed) {
  EncoderCase encoder;
  auto found = encoder.parameters.find("embeddings.norm.bias");
  ASSERT_NE(found, encoder.parameters.end());
  found->second = Array::zeros(DType::F32, {95});
  auto executable = compile(cpu::kTarget, encoder.graph, encoder.parameters);
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.error().code, "parameter-type");
  encoder.parameters.erase(found);
  executable = compile(cpu::kTarget, encoder.graph, encoder.parameters);
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.error().code, "parameter-missing");
  EXPECT_EQ(executable.error().at, "embeddings.norm.bias");
}

}  // namespace
}  // namespace capra
