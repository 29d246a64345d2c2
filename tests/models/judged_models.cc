// The definitions and their inputs.
#include "tests/models/judged_models.h"

#include <algorithm>
#include <cmath>

#include "capra/base/result.h"
#include "capra/ir/tape.h"
#include "capra/nn/layers.h"
#include "capra/ops/slice.h"
#include "tests/models/small_encoder.h"

namespace capra::testing {
namespace {

constexpr int64_t kHidden = 128;
constexpr int64_t kTokens = 32;

Array seeded_ids(int64_t count, int64_t vocabulary, uint64_t seed) {
  Array ids = Array::zeros(DType::I32, {count});
  Random numbers(seed);
  for (int64_t i = 0; i < count; ++i) {
    ids.set_i64(i, static_cast<int64_t>(numbers.next() % static_cast<uint64_t>(vocabulary)));
  }
  return ids;
}

}  // namespace

JudgedModel decision_head() {
  const BertConfig config{.vocab_size = 500,
                          .hidden_size = kHidden,
                          .num_hidden_layers = 22,
                          .num_attention_heads = 4,
                          .intermediate_size = 512,
                          .max_position_embeddings = kTokens,
                          .type_vocab_size = 1};
  const Context context = TraceSink::begin("decision");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor ids = sink.input(context, "ids", {DType::I32, {kTokens}});
  const Tensor hidden =
      bert_encoder(config, {.ids = ids, .positions = {}, .offsets = {}, .token_types = {}});
  const Tensor first = slice(hidden, {.starts = {0, 0}, .limits = {1, kHidden}});
  const Tensor wide = nn::Linear("head.dense", kHidden, kHidden)(first);
  const Tensor active = nn::activate(nn::Activation::GeluExact, wide);
  sink.output(nn::Linear("head.decision", kHidden, 3)(active), "decision");
  JudgedModel model{build_graph(sink.take_tape()), {}, {}};
  model.parameters = seeded_parameters(model.graph, 8);
  model.inputs["ids"] = seeded_ids(kTokens, config.vocab_size, 2);
  return model;
}

JudgedModel two_segments() {
  constexpr int64_t kFirst = 9;
  constexpr int64_t kAll = 21;
  const BertConfig config = small_bert_config();
  JudgedModel model{
      make_bert(config)->trace({.form = SequenceForm::Single, .token_types = true}), {}, {}};
  model.parameters = seeded_parameters(model.graph, 3);
  model.inputs["ids"] = seeded_ids(kAll, config.vocab_size, 4);
  Array types = Array::zeros(DType::I32, {kAll});
  for (int64_t i = kFirst; i < kAll; ++i) types.set_i64(i, 1);
  model.inputs["token_types"] = types;
  return model;
}

double max_difference(const Array& a, const Array& b) {
  CAPRA_CHECK(a.sizes() == b.sizes());
  double worst = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    worst = std::max(worst, std::abs(a.f64_at(i) - b.f64_at(i)));
  }
  return worst;
}

}  // namespace capra::testing
