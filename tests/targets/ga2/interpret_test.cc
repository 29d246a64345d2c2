// The readings beside the program judge: they find a tensor that is off, and say which.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {
namespace {

Matrix<double> matrix(int64_t rows, int64_t columns, std::vector<double> values) {
  Matrix<double> made(rows, columns);
  made.values = std::move(values);
  return made;
}

// y = x times the identity, z = x + x; both are exact for levels of x that are even.
Program doubled() {
  Network network;
  const NodeIndex x = *network.input("x", {1, 2});
  const NodeIndex w = *network.weight("w", matrix(2, 2, {1, 0, 0, 1}));
  const NodeIndex y = *network.matmul(x, w);
  const NodeIndex z = *network.add(x, x);
  EXPECT_TRUE(network.output(y, "y").ok());
  EXPECT_TRUE(network.output(z, "z").ok());
  const std::vector<Sample> samples = {{{"x", matrix(1, 2, {1, -1})}}};
  return *compile(network, samples);
}

TEST(Stages, TolerateOneLevelAndTwoOfASum) {
  const Program program = doubled();
  const std::vector<Matrix<int32_t>> integers =
      interpret(program, {{"x", matrix(1, 2, {40.0 / 127, -20.0 / 127})}});
  EXPECT_EQ(integers[2].values, (std::vector<int32_t>{40, -20}));
  EXPECT_EQ(integers[3].values, (std::vector<int32_t>{40, -20}));
  const auto problems = [&](size_t node, int32_t by) {
    std::vector<Matrix<int32_t>> other = integers;
    other[node].values[1] += by;
    return stage_problems(program, other);
  };
  const std::string product =
      "node 2 (matmul): 1 values more than 1 level(s) from the real-number result";
  const std::string sum = "node 3 (add): 1 values more than 2 level(s) from the real-number result";
  EXPECT_EQ(problems(2, 1), std::vector<std::string>());
  EXPECT_EQ(problems(2, -1), std::vector<std::string>());
  EXPECT_EQ(problems(2, 2), std::vector<std::string>{product});
  EXPECT_EQ(problems(2, -2), std::vector<std::string>{product});
  EXPECT_EQ(problems(3, 2), std::vector<std::string>());
  EXPECT_EQ(problems(3, -2), std::vector<std::string>());
  EXPECT_EQ(problems(3, 3), std::vector<std::string>{sum});
  EXPECT_EQ(problems(3, -3), std::vector<std::string>{sum});
}

// Powers of two change no level, so the error is the same at every size, also where squares are
// infinite or 0.
TEST(RelativeError, IsThatOfValuesOfAnySize) {
  const auto error_at = [](double size) {
    Network network;
    const NodeIndex x = *network.input("x", {1, 2});
    EXPECT_TRUE(network.output(x, "y").ok());
    const std::vector<Sample> samples = {{{"x", matrix(1, 2, {size, -size})}}};
    const Sample sample = {{"x", matrix(1, 2, {0.3 * size, -0.7 * size})}};
    const Program program = *compile(network, samples);
    return relative_error(program, *run(program, sample), sample);
  };
  // 0.3 is 38.1 levels and 0.7 is 88.9: a tenth of a level away, each.
  const double wanted = std::sqrt(2 * 0.1 * 0.1) / std::hypot(38.1, 88.9);
  EXPECT_NEAR(error_at(1), wanted, 1e-12);
  EXPECT_EQ(error_at(std::ldexp(1.0, 600)), error_at(1));
  EXPECT_EQ(error_at(std::ldexp(1.0, -600)), error_at(1));
}

TEST(RelativeError, IsInfiniteWhereTheRealNumberIs) {
  const Program program = doubled();
  const Sample sample = {{"x", matrix(1, 2, {1.7e308, 1})}};
  EXPECT_EQ(relative_error(program, *run(program, sample), sample),
            std::numeric_limits<double>::infinity());
}

// An index may be larger than a level.
TEST(Run, IndicesAreWholeWords) {
  Network network;
  const NodeIndex x = *network.input("x", {1, 300});
  const NodeIndex largest = *network.argmax(x);
  ASSERT_TRUE(network.output(largest, "index").ok());
  Sample sample = {{"x", Matrix<double>(1, 300)}};
  sample["x"].at(0, 250) = 1;
  const auto program = compile(network, std::vector<Sample>{sample});
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  const auto ran = run(*program, sample);
  ASSERT_TRUE(ran.ok()) << to_text(ran.error());
  EXPECT_EQ(ran->outputs.at("index").integers.values, std::vector<int32_t>{250});
  EXPECT_EQ(ran->outputs.at("index").values.values, std::vector<double>{250});
}

// Where the operands of a sum reach 127 steps each, their sum is cut in the reading as on the chip.
TEST(Interpreter, CutsSums) {
  const Program program = doubled();
  const Sample sample = {{"x", matrix(1, 2, {1, -1})}};
  EXPECT_EQ(interpret(program, sample)[3].values, (std::vector<int32_t>{127, -127}));
  const auto ran = run(program, sample);
  ASSERT_TRUE(ran.ok()) << to_text(ran.error());
  EXPECT_EQ(ran->outputs.at("z").integers.values, (std::vector<int32_t>{127, -127}));
}

}  // namespace
}  // namespace capra::ga2
