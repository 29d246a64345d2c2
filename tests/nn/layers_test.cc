// Modules: what they record, under which parameter paths, and what they compute.
#include "capra/nn/layers.h"

#include <gtest/gtest.h>

#include <string>

#include "capra/interp/interp.h"
#include "capra/ir/graph.h"
#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

// What a call records: op names in order, without what comes in and goes out.
struct Trace {
  Context context = TraceSink::begin("test");
  TraceSink& sink() const { return static_cast<TraceSink&>(context.sink()); }
  Tensor input(TensorType type) const { return sink().input(context, "x", std::move(type)); }

  std::vector<std::string> ops() const {
    std::vector<std::string> names;
    for (const TapeEntry& entry : sink().tape().entries) {
      if (entry.op != &kInput && entry.op != &kParameter) names.emplace_back(entry.op->name);
    }
    return names;
  }
  std::vector<std::string> parameters() const {
    std::vector<std::string> paths;
    for (const TapeEntry& entry : sink().tape().entries) {
      if (entry.op != &kParameter) continue;
      const auto attrs = unpack<ParameterAttrs>(entry.attrs);
      paths.push_back(attrs.path + " " + attrs.type.text());
    }
    return paths;
  }
};

using Names = std::vector<std::string>;

TEST(Layers, LinearHasAWeightAndPerhapsABias) {
  const Trace with;
  const Tensor y = nn::Linear("a.up", 4, 6)(with.input({DType::F32, {"tokens", 4}}));
  EXPECT_EQ(y.type(), (TensorType{DType::F32, {"tokens", 6}}));
  EXPECT_EQ(with.parameters(), (Names{"a.up.weight f32[6, 4]", "a.up.bias f32[6]"}));
  const Trace without;
  nn::Linear("a.up", 4, 6, false)(without.input({DType::F64, {2, 4}}));
  EXPECT_EQ(without.parameters(), Names{"a.up.weight f64[6, 4]"});
}

TEST(Layers, LayerNormKeepsItsEpsilon) {
  const Trace trace;
  nn::LayerNorm("a.norm", 4, 1e-12)(trace.input({DType::F32, {3, 4}}));
  EXPECT_EQ(trace.parameters(), (Names{"a.norm.weight f32[4]", "a.norm.bias f32[4]"}));
  EXPECT_EQ(trace.ops(), Names{"layer_norm"});
  EXPECT_EQ(std::get<double>(trace.sink().tape().entries.back().attrs[0]), 1e-12);
}

TEST(Layers, EmbeddingRowsNeedNoIndices) {
  const Trace trace;
  const nn::Embedding table("table", 9, 4);
  EXPECT_EQ(table.first_rows(trace.context, "tokens").type(),
            (TensorType{DType::F32, {"tokens", 4}}));
  EXPECT_EQ(table.row(trace.context, 2).type(), (TensorType{DType::F32, {4}}));
  EXPECT_EQ(trace.ops(), (Names{"slice", "slice", "reshape"}));
  EXPECT_EQ(trace.parameters(), Names{"table.weight f32[9, 4]"});  // one table, recorded once
}

TEST(Layers, EmbeddingRowsAreTheTables) {
  Parameters parameters;
  Array data = Array::zeros(DType::F32, {4, 2});
  for (int64_t i = 0; i < 8; ++i) data.set(i, static_cast<double>(i));
  parameters.emplace("table.weight", data);
  const Context context = interp_context(&parameters);
  const nn::Embedding table("table", 4, 2);
  EXPECT_EQ(table.row(context, 2).array().f64_at(0), 4);
  EXPECT_EQ(table.first_rows(context, 3).array().f64_at(5), 5);
  const int32_t ids[] = {3, 0};
  const Tensor rows = table(Tensor::of_data(context, Array::of<int32_t>(DType::I32, {2}, ids)));
  EXPECT_EQ(rows.array().f64_at(1), 7);
  EXPECT_EQ(rows.array().f64_at(2), 0);
}

TEST(Layers, SelfAttentionIsFourLinearsRoundAnAttention) {
  const Trace trace;
  const Tensor x = trace.input({DType::F32, {"tokens", 12}});
  const Tensor y = nn::SelfAttention("a", 12, 3)(x, Tensor());
  EXPECT_EQ(y.type(), x.type());
  EXPECT_EQ(trace.ops(), (Names{"linear", "linear", "linear", "reshape", "reshape", "reshape",
                                "attention", "reshape", "linear"}));
  EXPECT_EQ(trace.parameters(),
            (Names{"a.query.weight f32[12, 12]", "a.query.bias f32[12]", "a.key.weight f32[12, 12]",
                   "a.key.bias f32[12]", "a.value.weight f32[12, 12]", "a.value.bias f32[12]",
                   "a.output.weight f32[12, 12]", "a.output.bias f32[12]"}));
}

TEST(Layers, ActivationsAreTheOpsTheyName) {
  using nn::Activation;
  const std::pair<Activation, Names> kCases[] = {
      {Activation::GeluExact, {"gelu"}}, {Activation::GeluTanh, {"gelu"}},
      {Activation::Relu, {"relu"}},      {Activation::Silu, {"silu"}},
      {Activation::Tanh, {"tanh"}},      {Activation::Sigmoid, {"sigmoid"}},
      {Activation::Identity, {}},
  };
  for (const auto& [activation, ops] : kCases) {
    const Trace trace;
    nn::activate(activation, trace.input({DType::F32, {4}}));
    EXPECT_EQ(trace.ops(), ops) << nn::activation_text(activation);
    if (activation != Activation::GeluExact && activation != Activation::GeluTanh) continue;
    EXPECT_EQ(std::get<bool>(trace.sink().tape().entries.back().attrs[0]),
              activation == Activation::GeluTanh);
  }
}

}  // namespace
}  // namespace capra
