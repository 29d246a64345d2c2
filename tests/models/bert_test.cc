// The BERT definition: what it traces to, how its parameters are called, which configs it takes.
#include "models/bert/bert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "capra/ir/structural_ops.h"
#include "capra/ir/verify.h"
#include "models/bert/bert_names.h"
#include "tests/models/small_encoder.h"

namespace capra {
namespace {

using testing::small_bert_config;

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.inputs())
    names.push_back(graph.node(id).attrs_as<InputAttrs>().name);
  return names;
}

TEST(Bert, OneSequenceHasTheTokenIdsAsItsOnlyInput) {
  const auto encoder = make_bert(small_bert_config());
  const Graph graph = encoder->trace({.form = SequenceForm::Single, .length = "tokens"});
  ASSERT_TRUE(verify(graph).ok());
  EXPECT_EQ(input_names(graph), std::vector<std::string>{"ids"});
  ASSERT_EQ(graph.outputs().size(), 1U);
  EXPECT_EQ(graph.node(graph.outputs()[0]).type, (TensorType{DType::F32, {"tokens", 96}}));
}

TEST(Bert, AFixedLengthTracesToStaticShapes) {
  const auto encoder = make_bert(small_bert_config());
  const Graph graph = encoder->trace({.form = SequenceForm::Single, .length = 7});
  for (const Node& node : graph.nodes()) EXPECT_TRUE(node.type.shape.is_static());
}

TEST(Bert, PackedFormAndTokenTypesAddTheirInputs) {
  const auto encoder = make_bert(small_bert_config());
  const Graph packed = encoder->trace({});
  EXPECT_EQ(input_names(packed), (std::vector<std::string>{"ids", "positions", "offsets"}));
  const Graph typed = encoder->trace({.token_types = true});
  EXPECT_EQ(input_names(typed),
            (std::vector<std::string>{"ids", "positions", "offsets", "token_types"}));
}

TEST(Bert, StatesAreOutputsByName) {
  const auto encoder = make_bert(small_bert_config());
  const Graph graph = encoder->trace({.states = true});
  std::vector<std::string> names;
  for (const NodeId id : graph.outputs())
    names.push_back(graph.node(id).attrs_as<OutputAttrs>().name);
  EXPECT_EQ(names, (std::vector<std::string>{"embeddings", "layer0.attention", "layer0.output",
                                             "layer1.attention", "layer1.output", "hidden"}));
}

TEST(Bert, ParameterPathsAreTheSameInEveryForm) {
  const auto encoder = make_bert(small_bert_config());
  const auto paths = [&](const TraceOptions& options) {
    const Graph graph = encoder->trace(options);
    std::set<std::string> found;
    for (const NodeId id : graph.parameters()) {
      found.insert(graph.node(id).attrs_as<ParameterAttrs>().path);
    }
    return found;
  };
  const auto packed = paths({});
  EXPECT_EQ(packed.size(), 5U + 2U * 16U);
  EXPECT_EQ(packed, paths({.form = SequenceForm::Single}));
  EXPECT_EQ(packed, paths({.token_types = true, .states = true}));
}

// The names are those of BertModel in Hugging Face transformers.
TEST(Bert, CheckpointNamesAreDerivedFromPaths) {
  const auto first = [](std::string_view path) { return bert_checkpoint_names(path).front(); };
  EXPECT_EQ(first("embeddings.word.weight"), "embeddings.word_embeddings.weight");
  EXPECT_EQ(first("embeddings.norm.bias"), "embeddings.LayerNorm.bias");
  EXPECT_EQ(first("encoder.layer.11.attention.query.weight"),
            "encoder.layer.11.attention.self.query.weight");
  EXPECT_EQ(first("encoder.layer.0.attention.output.bias"),
            "encoder.layer.0.attention.output.dense.bias");
  EXPECT_EQ(first("encoder.layer.0.attention.norm.weight"),
            "encoder.layer.0.attention.output.LayerNorm.weight");
  EXPECT_EQ(first("encoder.layer.0.feed_forward.up.weight"),
            "encoder.layer.0.intermediate.dense.weight");
  EXPECT_EQ(first("encoder.layer.0.feed_forward.down.weight"),
            "encoder.layer.0.output.dense.weight");
  EXPECT_EQ(first("encoder.layer.0.feed_forward.norm.bias"),
            "encoder.layer.0.output.LayerNorm.bias");
  EXPECT_EQ(
      bert_checkpoint_names("embeddings.norm.weight"),
      (std::vector<std::string>{"embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.weight",
                                "embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.gamma"}));
}

TEST(Bert, KnowsWhatASentenceEncoderLeavesUnused) {
  EXPECT_TRUE(bert_known_unused("embeddings.position_ids"));
  EXPECT_TRUE(bert_known_unused("bert.pooler.dense.weight"));
  EXPECT_TRUE(bert_known_unused("cls.predictions.bias"));
  EXPECT_FALSE(bert_known_unused("encoder.layer.0.output.dense.weight"));
}

}  // namespace
}  // namespace capra
