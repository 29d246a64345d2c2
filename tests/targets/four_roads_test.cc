// One exact GELU, traced once, goes down four roads: a portable target, one that keeps gelu whole,
// one without erf, and eager execution. What they print is compared with four_roads.expected.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "capra/base/buffer.h"
#include "capra/base/new_file.h"
#include "capra/ir/text.h"
#include "capra/ops/gelu.h"
#include "capra/runtime/plugin.h"
#include "capra/targets/all_targets.h"
#include "capra/targets/cpu/target.h"
#include "capra/targets/interp/target.h"
#include "capra/targets/stablehlo/emit.h"

namespace capra {
namespace {

const Graph& traced() {
  static const Graph kGraph = [] {
    Context context = TraceSink::begin("main");
    auto& sink = static_cast<TraceSink&>(context.sink());
    const Tensor x = sink.input(context, "x", {DType::F32, {1, 4}});
    const Scope scope(context, "activation");
    sink.output(gelu(x, {.approximate = false}), "y");
    return build_graph(sink.take_tape());
  }();
  return kGraph;
}

Array some() {
  return Array::of<float>(DType::F32, {1, 4}, std::vector<float>{-2.701F, -0.5F, 1.25F, 2.701F});
}

const Target& target_of(const std::string& name) {
  static const std::vector<const Target*> kTargets = [] {
    const std::vector<std::string> plugins{PLUGIN_FOLDER "/example_my_dsp.so",
                                           PLUGIN_FOLDER "/example_my_npu.so"};
    return with_plugins(all_targets(), plugins).value_or_throw();
  }();
  return *find_target(kTargets, name).value_or_throw();
}

struct Road {
  stablehlo::Module module;
  PassReport report;
  std::vector<Approximation> in_force;
};

Road written(const std::string& target) {
  Road road;
  road.module = stablehlo::emit(traced(), {},
                                {.target = &target_of(target),
                                 .report = &road.report,
                                 .approximations = &road.in_force,
                                 .verify_each = true})
                    .value_or_throw();
  return road;
}

Array eager(const Target& target) {
  const Context context = eager_context(target);
  const std::vector<Tensor> inputs{Tensor::of_data(context, some())};
  return replay(traced(), context, inputs).at(0).array();
}

Array compiled(const Target& target) {
  const auto executable = compile(target, traced(), {}).value_or_throw();
  Workspace workspace = executable->make_workspace();
  const Array x = some();
  const std::vector<InputRef> inputs{x};
  return executable->run(workspace, inputs).value_or_throw().at(0);
}

double largest_difference(const Array& a, const Array& b) {
  double largest = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    largest = std::max(largest, std::abs(a.f64_at(i) - b.f64_at(i)));
  }
  return largest;
}

TEST(FourRoads, PrintWhatIsExpected) {
  const Road dsp = written("my-dsp");
  ASSERT_EQ(dsp.report.lines.size(), 1U);
  const Graph legalized = approximate_for(target_of("my-dsp"), traced()).value_or_throw();
  const std::string found = "# The node, traced once.\n" + print_graph(traced()) +
                            "\n# stablehlo: a portable target, decomposed inline.\n" +
                            stablehlo::print_module(written("stablehlo").module) +
                            "\n# my-npu: a target that fuses GELU.\n" +
                            stablehlo::print_module(written("my-npu").module) +
                            "\n# my-dsp: a target without erf, a recorded legalization.\n" +
                            dsp.report.lines[0] + "\n" + print_graph(legalized) +
                            stablehlo::print_module(dsp.module) +
                            "\n# cpu: eager, no compiler at all.\nx = " + print_array(some()) +
                            "\ny = " + print_array(eager(cpu::kTarget)) + "\n";
  const std::string path = CAPRA_SOURCE_DIR "/tests/targets/four_roads.expected.txt";
  const std::string expected = read_file(path).value_or_throw();
  if (found == expected) return;
  const std::string beside = PLUGIN_FOLDER "/four_roads.txt";
  write_file(beside, found).or_throw();
  FAIL() << found << "\ndiffers from " << path << "; it stands in " << beside;
}

TEST(FourRoads, KeepTheMeaningOrSayWhatTheyChanged) {
  EXPECT_TRUE(written("stablehlo").in_force.empty());
  EXPECT_TRUE(written("my-npu").in_force.empty());
  const Road dsp = written("my-dsp");
  ASSERT_EQ(dsp.in_force.size(), 1U);
  EXPECT_EQ(dsp.in_force[0].node, "activation");
  EXPECT_EQ(dsp.in_force[0].max_abs_error, 4.8e-4);

  // The numbers: exact roads are within the op's bound of the oracle, the tanh form is where the
  // note says, at |x| = 2.701 nearly as far as it can be.
  const Array oracle = compiled(interp::kTarget);
  EXPECT_EQ(eager(cpu::kTarget), compiled(cpu::kTarget));
  EXPECT_EQ(eager(target_of("my-npu-sim")), eager(cpu::kTarget));
  EXPECT_LT(largest_difference(eager(cpu::kTarget), oracle), 2e-7);
  const double tanh_error = largest_difference(compiled(target_of("my-dsp-sim")), oracle);
  EXPECT_GT(tanh_error, 4.7e-4);
  EXPECT_LT(tanh_error, 4.8e-4);
}

}  // namespace
}  // namespace capra
