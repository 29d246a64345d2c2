// The oracle on the real checkpoint against golden/minilm, which NumPy made in double precision:
// its README says how. Every state, every pooled vector and every embedding to 1e-12.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "capra/interp/interp.h"
#include "capra/io/checkpoint.h"
#include "capra/io/hf_config.h"
#include "capra/io/json.h"
#include "capra/io/safetensors.h"
#include "capra/ir/structural_ops.h"
#include "models/encoder.h"
#include "models/weights.h"
#include "tests/io/model_folder.h"

namespace capra {
namespace {

constexpr double kBound = 1e-12;

std::string golden_path(const char* name) {
  return std::string(CAPRA_SOURCE_DIR) + "/tests/golden/minilm/" + name;
}

double max_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return INFINITY;
  double greatest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(a[i] - b[i]);
    if (!(difference <= greatest)) greatest = difference;  // a NaN stays
  }
  return greatest;
}

std::vector<double> mean_of_rows(const Array& states) {
  const auto rows = static_cast<size_t>(states.sizes()[0]);
  const auto width = static_cast<size_t>(states.sizes()[1]);
  std::vector<double> mean(width, 0.0);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < width; ++i) mean[i] += states.as<double>()[row * width + i];
  }
  for (double& element : mean) element /= static_cast<double>(rows);
  return mean;
}

std::vector<double> normalized(std::vector<double> vector) {
  double squares = 0;
  for (const double element : vector) squares += element * element;
  for (double& element : vector) element /= std::sqrt(squares);
  return vector;
}

TEST(GoldenMinilm, EveryStatePooledVectorAndEmbedding) {
  const std::string folder = test_model_folder();
  const ModelConfig config = ModelConfig::open_folder(folder).value_or_throw();
  const auto encoder = open_encoder(config).value_or_throw();
  const Graph graph = encoder->trace({.form = SequenceForm::Single, .states = true});
  const Checkpoint checkpoint = Checkpoint::open_folder(folder).value_or_throw();
  const Weights weights = load_weights(*encoder, graph, checkpoint).value_or_throw();

  const auto vectors =
      SafetensorsFile::open(golden_path("embeddings.safetensors")).value_or_throw();
  const auto states = SafetensorsFile::open(golden_path("hidden.safetensors")).value_or_throw();
  const Array embeddings = vectors.array("embeddings").value_or_throw();
  const Array pooled = vectors.array("pooled").value_or_throw();
  const Json texts = read_json_file(golden_path("texts.json")).value_or_throw();
  ASSERT_EQ(texts.items().size(), 44u);
  const auto width = static_cast<size_t>(encoder->hidden_size());

  const auto pool = std::make_shared<ThreadPool>();
  double worst_state = 0;
  double worst_pooled = 0;
  double worst_embedding = 0;
  size_t states_seen = 0;
  for (size_t row = 0; row < texts.items().size(); ++row) {
    std::vector<int32_t> ids;
    for (const Json& id : texts.items()[row].find("token_ids")->items()) {
      ids.push_back(static_cast<int32_t>(*id.as_i64()));
    }
    const std::vector<Array> inputs = {Array::of<int32_t>(
        DType::I32, {static_cast<int64_t>(ids.size())}, std::span<const int32_t>(ids))};
    const std::vector<Array> outputs =
        interpret(graph, inputs, weights.parameters, pool).value_or_throw();

    const std::vector<NodeId> nodes = graph.outputs();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::string name = graph.node(nodes[i]).attrs_as<OutputAttrs>().name;
      const std::string stored = "text" + std::to_string(row) + "." + name;
      if (states.find(stored) == nullptr) continue;
      const Array wanted = states.array(stored).value_or_throw();
      const double worst = max_difference(outputs[i].as<double>(), wanted.as<double>());
      EXPECT_LE(worst, kBound) << stored;
      worst_state = std::max(worst_state, worst);
      ++states_seen;
    }
    const NodeId last = graph.find_output("hidden");
    const auto position = std::ranges::find(nodes, last) - nodes.begin();
    const std::vector<double> mean = mean_of_rows(outputs[static_cast<size_t>(position)]);
    const auto stored_row = [&](const Array& array) {
      return array.as<double>().subspan(row * width, width);
    };
    worst_pooled = std::max(worst_pooled, max_difference(mean, stored_row(pooled)));
    worst_embedding =
        std::max(worst_embedding, max_difference(normalized(mean), stored_row(embeddings)));
  }
  EXPECT_EQ(states_seen, states.tensors().size());
  EXPECT_LE(worst_pooled, kBound);
  EXPECT_LE(worst_embedding, kBound);
  std::printf("max abs: states %.2e, pooled %.2e, embeddings %.2e\n", worst_state, worst_pooled,
              worst_embedding);
}

}  // namespace
}  // namespace capra
