// Scales where rules meet, as the published planner has them: pins go by the order of nodes, and of
// one softmax the scores' comes first.
#include "capra/targets/ga2/quantize/scales.h"

#include <gtest/gtest.h>

#include <cmath>

namespace capra::ga2 {
namespace {

Sample row(std::vector<double> values) {
  Matrix<double> matrix(1, std::ssize(values));
  matrix.values = std::move(values);
  return {{"x", std::move(matrix)}};
}

ScalePlan plan(const Network& network, std::vector<double> values) {
  const std::vector<Sample> samples = {row(std::move(values))};
  return *plan_scales(network, samples, {});
}

TEST(Scales, TheLaterPinOfAGroupStands) {
  Network network;
  const NodeIndex x = *network.input("x", {1, 2});
  const NodeIndex first = *network.softmax(x);
  const NodeIndex second = *network.softmax(first);
  const ScalePlan found = plan(network, {1, 2});
  EXPECT_EQ(found.scales[static_cast<size_t>(x)], 1.0 / 16);
  EXPECT_EQ(found.scales[static_cast<size_t>(first)], 1.0 / 16);
  EXPECT_EQ(found.scales[static_cast<size_t>(second)], 1.0 / 127);
}

TEST(Scales, ScoresBesideTheirSoftmaxHaveItsScale) {
  Network network;
  const NodeIndex x = *network.input("x", {1, 2});
  const NodeIndex probabilities = *network.softmax(x);
  const NodeIndex both = *network.concat_rows(x, probabilities);
  const ScalePlan found = plan(network, {0.25, 0.5});
  for (const NodeIndex node : {x, probabilities, both}) {
    EXPECT_EQ(found.scales[static_cast<size_t>(node)], 1.0 / 127) << node;
  }
}

TEST(Scales, OfTwoSoftmaxesAreOnesThatBothCanRead) {
  Network twice;
  const NodeIndex first = *twice.softmax(*twice.input("x", {1, 2}));
  (void)*twice.softmax(first);
  const Status status = check_softmaxes(twice, plan(twice, {1, 2}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "placement-impossible");
  EXPECT_EQ(
      status.error().message,
      "node 1: the softmax needs steps of 1/127 in node 1, which has steps of 1/16 for another "
      "softmax");
  Network beside;
  const NodeIndex x = *beside.input("x", {1, 2});
  (void)*beside.concat_rows(x, *beside.softmax(x));
  EXPECT_FALSE(check_softmaxes(beside, plan(beside, {1, 2})).ok());
  Network apart;
  const NodeIndex scores = *apart.input("x", {1, 2});
  (void)*apart.softmax(scores);
  (void)*apart.softmax(scores);
  EXPECT_TRUE(check_softmaxes(apart, plan(apart, {1, 2})).ok());
}

TEST(Scales, ScoresThatFitAreNotSaidToSaturate) {
  Network network;
  const NodeIndex x = *network.input("x", {1, 2});
  ASSERT_TRUE(network.softmax(x).ok());
  EXPECT_EQ(plan(network, {127.0 / 16, 0}).notes, std::vector<std::string>());
  const std::vector<std::string> kNotes = {
      "node 0: scores reach 7.94, above the softmax input range of 7.94: they will saturate"};
  EXPECT_EQ(plan(network, {std::nextafter(127.0 / 16, 8), 0}).notes, kNotes);
}

// The least number of double precision through 127 is 0, and so is a tag's range.
TEST(Scales, OfZeroAreRefused) {
  Network network;
  const NodeIndex x = *network.input("x", {1, 2});
  network.tag(x, "x");
  const std::vector<Sample> samples = {row({0, 5e-324})};
  const Result<ScalePlan> found = plan_scales(network, samples, {});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, "range-invalid");
  EXPECT_EQ(found.error().message, "node 0 reaches 5e-324: a level of it is 0 in double precision");
  EXPECT_FALSE(plan_scales(network, samples, {{"x", 3e-322}}).ok());
  EXPECT_TRUE(plan_scales(network, samples, {{"x", 127 * 5e-324}}).ok());
}

TEST(Scales, OfSetRangesHoldPackedWeights) {
  for (const int bits : {4, 8}) {
    Network network;
    const NodeIndex x = *network.input("x", {1, 2});
    Matrix<double> weights(2, 1);
    weights.values = {1, -0.5};
    const NodeIndex w = *network.weight("w", weights, bits);
    network.tag(w, "w");
    ASSERT_TRUE(network.matmul(x, w).ok());
    const std::vector<Sample> samples = {row({1, 2})};
    EXPECT_TRUE(plan_scales(network, samples, {{"w", 1}}).ok());
    // 7 levels are up to 0.9, and half a level more.
    EXPECT_TRUE(plan_scales(network, samples, {{"w", 0.94}}).ok());
    const Result<ScalePlan> found = plan_scales(network, samples, {{"w", 0.9}});
    ASSERT_EQ(found.ok(), bits == 8);
    if (found.ok()) continue;
    EXPECT_EQ(found.error().code, "range-invalid");
    EXPECT_EQ(found.error().message,
              "the range of w is 0.9, and it has values that do not fit 4 bits then");
  }
}

}  // namespace
}  // namespace capra::ga2
