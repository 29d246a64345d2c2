// Every problem line on every instruction set against the oracle, and the instruction sets against
// each other. With CAPRA_TEST_NIGHTLY=1 also the large problems.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "bench/problems/problem.h"
#include "capra/interp/interp.h"
#include "capra/targets/cpu/target.h"

namespace capra::bench {
namespace {

const std::string kFolder = std::string(CAPRA_SOURCE_DIR) + "/bench/problems";

bool nightly() {
  const char* value = std::getenv("CAPRA_TEST_NIGHTLY");
  return value != nullptr && std::string_view(value) == "1";
}

// What the oracle needs some tenths of a second for is left to the nightly run.
bool is_large(const ProblemLine& line) {
  double product = 1;
  for (const auto& [name, value] : line.values) product *= std::atof(value.c_str());
  return product > 2e7;
}

std::vector<Array> run(const Target& target, const Problem& problem) {
  const std::unique_ptr<Executable> executable =
      compile(target, problem.graph, problem.parameters).value_or_throw();
  Workspace workspace = executable->make_workspace();
  const std::vector<InputRef> inputs(problem.inputs.begin(), problem.inputs.end());
  return executable->run(workspace, inputs).value_or_throw();
}

double distance(const Array& found, const Array& exact) {
  double most = 0;
  for (int64_t i = 0; i < exact.elements(); ++i) {
    const double apart = std::abs(found.f64_at(i) - exact.f64_at(i));
    if (!(apart <= most)) most = apart;  // a NaN stays
  }
  return most;
}

TEST(Problems, AreWithinTheirErrorOfTheOracleOnEveryInstructionSet) {
  int64_t checked = 0;
  for (const ProblemLine& line : read_problem_lines(kFolder)) {
    if (is_large(line) && !nightly()) continue;
    const Problem problem = make_problem(kFolder, line);
    const Array exact =
        interpret(problem.graph, problem.inputs, problem.parameters).value_or_throw().front();
    std::optional<Array> first;
    for (const kernels::Isa isa :
         {kernels::Isa::Portable, kernels::Isa::Avx2, kernels::Isa::Avx512, kernels::Isa::Neon}) {
      const Target* target = cpu::target_for(isa);
      if (target == nullptr) continue;
      const Array found = run(*target, problem).front();
      EXPECT_LE(distance(found, exact), problem.error) << problem.name;
      if (first) {
        EXPECT_TRUE(found == *first) << problem.name << " on " << kernels::isa_name(isa);
      } else {
        first = found;
      }
    }
    ++checked;
  }
  EXPECT_GT(checked, 60);
}

TEST(Problems, LinesThatSayTooLittleAreNamed) {
  const auto code = [](const ProblemLine& line) -> std::string {
    try {
      make_problem(kFolder, line);
    } catch (const Error& error) {
      return error.diagnostic().code + " " + error.diagnostic().message;
    }
    return "";
  };
  EXPECT_EQ(code({"softmax", {{"rows", "2"}, {"width", "3"}}, 1}), "");
  EXPECT_EQ(code({"softmax", {{"rows", "2"}}, 1}), "text-syntax there is no value for 'width'");
  EXPECT_EQ(code({"softmax", {{"rows", "2"}, {"width", "x"}}, 1}), "text-syntax 'x' is not a size");
  EXPECT_EQ(code({"no_such_graph", {}, 1}), "file-not-found there is no such file");
}

}  // namespace
}  // namespace capra::bench
