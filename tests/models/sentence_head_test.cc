// Pooling, dense layers and normalization against values from NumPy 2 in double precision (SciPy's
// erf for GELU), on a 4 x 3 matrix of states.
#include "models/sentence_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace capra {
namespace {

constexpr float kStates[] = {0.5F,  -1.25F, 2.0F,   1.5F, 0.25F, -0.75F,
                             -2.0F, 3.0F,   0.125F, 0.0F, -0.5F, 1.0F};

DenseStep dense(nn::Activation activation, bool bias = true) {
  DenseStep step;
  step.in = 3;
  step.out = 2;
  step.weight =
      Array::of<float>(DType::F32, {2, 3}, std::vector<float>{0.5F, -1, 0.25F, 2, 1, -0.5F});
  if (bias) step.bias = Array::of<float>(DType::F32, {2}, std::vector<float>{0.1F, -0.2F});
  step.activation = activation;
  return step;
}

struct Case {
  std::string name;
  std::vector<Pooling> poolings;
  std::vector<SentenceHead::Step> steps;
  std::vector<double> expected;
};

std::vector<Case> cases() {
  using enum Pooling;
  using nn::Activation;
  return {
      {"cls", {Cls}, {}, {0.5, -1.25, 2.0}},
      {"mean", {Mean}, {}, {0, 0.375, 0.59375}},
      {"max", {Max}, {}, {1.5, 3, 2}},
      {"mean_sqrt_len", {MeanSqrtLen}, {}, {0, 0.75, 1.1875}},
      {"weighted_mean", {WeightedMean}, {}, {-0.25, 0.625, 0.4875}},
      {"last_token", {LastToken}, {}, {0, -0.5, 1}},
      {"cls_and_mean", {Cls, Mean}, {}, {0.5, -1.25, 2, 0, 0.375, 0.59375}},
      {"dense_tanh",
       {Mean},
       {dense(Activation::Tanh)},
       {-0.12589103822737227, -0.12127514262601158}},
      {"dense_without_bias",
       {Mean},
       {dense(Activation::Tanh, false)},
       {-0.22276394658830215, 0.07796644137536819}},
      {"dense_relu", {Mean}, {dense(Activation::Relu)}, {0, 0}},
      {"dense_gelu",
       {Mean},
       {dense(Activation::GeluExact)},
       {-0.056907984551450255, -0.055026442748029175}},
      {"dense_sigmoid",
       {Mean},
       {dense(Activation::Sigmoid)},
       {0.46840154296403064, 0.46956890732773415}},
      {"dense_silu",
       {Mean},
       {dense(Activation::Silu)},
       {-0.059282069583412436, -0.057228711979992}},
      {"dense_identity",
       {Mean},
       {dense(Activation::Identity)},
       {-0.12656249850988388, -0.12187500298023224}},
      {"dense_then_normalize",
       {Mean},
       {dense(Activation::Tanh), NormalizeStep{}},
       {-0.7201866152265857, -0.6937803969906283}},
  };
}

TEST(SentenceHead, GivesNumPysValues) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto head = SentenceHead::make(3, c.poolings, c.steps);
    ASSERT_TRUE(head.ok());
    ASSERT_EQ(head->dimension(), static_cast<int64_t>(c.expected.size()));
    std::vector<float> vector(c.expected.size());
    head->apply(kStates, 4, vector);
    const std::vector<double> wide(std::begin(kStates), std::end(kStates));
    const std::vector<double> exact = head->apply_exact(wide, 4);
    for (size_t i = 0; i < vector.size(); ++i) {
      EXPECT_NEAR(exact[i], c.expected[i], 1e-15);
      // One rounding to f32 from a double that is good to a few ulp.
      EXPECT_NEAR(vector[i], c.expected[i], std::abs(c.expected[i]) * 6.0e-8 + 1e-15);
    }
  }
}

TEST(SentenceHead, AsManyTokensOfAPromptAreLeftOutOnBothSides) {
  using enum Pooling;
  const std::vector<double> wide(std::begin(kStates), std::end(kStates));
  for (const Pooling pooling : {Cls, Mean, Max, MeanSqrtLen, WeightedMean, LastToken}) {
    SCOPED_TRACE(pooling_name(pooling));
    const auto head = SentenceHead::make(3, {pooling}, {});
    for (const int64_t prompt_tokens : {1, 3}) {
      float vector[3];
      head->apply(kStates, 4, vector, prompt_tokens);
      const int64_t skipped = pooling == Cls ? 0 : prompt_tokens;
      float rest[3];
      head->apply(std::span(kStates).subspan(static_cast<size_t>(3 * skipped)), 4 - skipped, rest);
      const std::vector<double> exact = head->apply_exact(wide, 4, nullptr, prompt_tokens);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(vector[i], rest[i]);
        EXPECT_NEAR(vector[i], exact[i], std::abs(exact[i]) * 6.0e-8);
      }
    }
  }
}

TEST(SentenceHead, ZeroVectorsNormalizeToZeros) {
  const auto head = SentenceHead::make(2, {Pooling::Mean}, {NormalizeStep{}});
  const float zeros[4] = {};
  float vector[2] = {1, 1};
  head->apply(zeros, 2, vector);
  EXPECT_EQ(vector[0], 0);
  EXPECT_EQ(vector[1], 0);
}

TEST(SentenceHead, MaxKeepsNaN) {
  const auto head = SentenceHead::make(1, {Pooling::Max}, {});
  const float states[3] = {1, std::numeric_limits<float>::quiet_NaN(), 5};
  float vector[1];
  head->apply(states, 3, vector);
  EXPECT_TRUE(std::isnan(vector[0]));
  const std::vector<double> wide(states, states + 3);
  EXPECT_TRUE(std::isnan(head->apply_exact(wide, 3)[0]));
}

TEST(SentenceHead, ALayerThatDoesNotFitIsRefused) {
  const auto head =
      SentenceHead::make(4, {Pooling::Mean}, {dense(nn::Activation::Identity), NormalizeStep{}});
  ASSERT_FALSE(head.ok());
  EXPECT_EQ(head.error().code, "dense-shape");
}

TEST(SentenceHead, PoolingNamesRoundTrip) {
  using enum Pooling;
  for (const Pooling pooling : {Cls, Mean, Max, MeanSqrtLen, WeightedMean, LastToken}) {
    EXPECT_EQ(*find_pooling(pooling_name(pooling)), pooling);
  }
  EXPECT_EQ(find_pooling("median").error().code, "pooling-unknown");
}

}  // namespace
}  // namespace capra
