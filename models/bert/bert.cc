// The encoder in modules, and how it is traced.
#include "models/bert/bert.h"

#include "capra/base/number_text.h"
#include "capra/ops/arithmetic.h"
#include "models/bert/bert_names.h"

namespace capra {
namespace {

// word + position + token type, then layer norm. Without index tensors the positions are the first
// rows of their table and the type is row 0, so token ids stay the only operand that is not a
// parameter.
Tensor embed_tokens(const BertConfig& config, const BertInputs& inputs, DType dtype) {
  const Context& context = inputs.ids.context();
  const Scope scope(context, "embeddings");
  const int64_t size = config.hidden_size;
  const nn::Embedding words("embeddings.word", config.vocab_size, size, dtype);
  const nn::Embedding positions("embeddings.position", config.max_position_embeddings, size, dtype);
  const nn::Embedding types("embeddings.token_type", config.type_vocab_size, size, dtype);

  const Tensor word = words(inputs.ids);
  const Tensor position = inputs.positions ? positions(inputs.positions)
                                           : positions.first_rows(context, inputs.ids.shape()[0]);
  const Tensor placed = word + position;
  const Tensor type = inputs.token_types ? types(inputs.token_types) : types.row(context, 0);
  const Tensor typed = placed + type;
  return nn::LayerNorm("embeddings.norm", size, config.layer_norm_eps)(typed);
}

Tensor attention_block(const BertConfig& config, const std::string& path, const Tensor& x,
                       const Tensor& offsets) {
  const Scope scope(x.context(), path);
  const Tensor mixed =
      nn::SelfAttention(path, config.hidden_size, config.num_attention_heads)(x, offsets);
  const Tensor sum = mixed + x;
  return nn::LayerNorm(path + ".norm", config.hidden_size, config.layer_norm_eps)(sum);
}

Tensor feed_forward_block(const BertConfig& config, const std::string& path, const Tensor& x) {
  const Scope scope(x.context(), path);
  const Tensor wide = nn::Linear(path + ".up", config.hidden_size, config.intermediate_size)(x);
  const Tensor active = nn::activate(config.hidden_act, wide);
  const Tensor narrow =
      nn::Linear(path + ".down", config.intermediate_size, config.hidden_size)(active);
  const Tensor sum = narrow + x;
  return nn::LayerNorm(path + ".norm", config.hidden_size, config.layer_norm_eps)(sum);
}

class BertEncoder : public Encoder {
 public:
  explicit BertEncoder(BertConfig config) : config_(std::move(config)) {}

  int64_t hidden_size() const override { return config_.hidden_size; }
  int64_t intermediate_size() const override { return config_.intermediate_size; }
  int64_t layers() const override { return config_.num_hidden_layers; }
  int64_t heads() const override { return config_.num_attention_heads; }
  int64_t vocabulary() const override { return config_.vocab_size; }
  int64_t max_positions() const override { return config_.max_position_embeddings; }
  int64_t token_types() const override { return config_.type_vocab_size; }

  std::vector<std::pair<std::string, std::string>> describe() const override {
    return {
        {"family", "bert"},
        {"layers", number_text(config_.num_hidden_layers)},
        {"hidden size", number_text(config_.hidden_size)},
        {"heads", number_text(config_.num_attention_heads)},
        {"intermediate size", number_text(config_.intermediate_size)},
        {"vocabulary", number_text(config_.vocab_size)},
        {"positions", number_text(config_.max_position_embeddings)},
        {"token types", number_text(config_.type_vocab_size)},
        {"activation", std::string(nn::activation_text(config_.hidden_act)) +
                           ", from hidden_act = \"" + config_.hidden_act_name + "\""},
        {"layer norm epsilon", number_text(config_.layer_norm_eps)},
    };
  }

  Graph trace(const TraceOptions& options) const override {
    const Context context = TraceSink::begin("bert");
    auto& sink = static_cast<TraceSink&>(context.sink());
    const auto input = [&](std::string_view name, Dim length) {
      return sink.input(context, name, {DType::I32, {std::move(length)}});
    };
    BertInputs inputs;
    inputs.ids = input("ids", options.length);
    if (options.form == SequenceForm::Packed) {
      inputs.positions = input("positions", options.length);
      inputs.offsets = input("offsets", "boundaries");
    }
    if (options.token_types) inputs.token_types = input("token_types", options.length);
    const StateObserver observe = [&](std::string_view name, const Tensor& state) {
      if (options.states) sink.output(state, name);
    };
    const Tensor hidden = bert_encoder(config_, inputs, options.dtype, observe);
    sink.output(options.end ? options.end(hidden) : hidden, options.end_name);
    return build_graph(sink.take_tape());
  }

  std::vector<std::string> checkpoint_names(std::string_view path) const override {
    return bert_checkpoint_names(path);
  }
  bool is_known_unused(std::string_view name) const override { return bert_known_unused(name); }

 private:
  BertConfig config_;
};

}  // namespace

Tensor bert_encoder(const BertConfig& config, const BertInputs& inputs, DType dtype,
                    const StateObserver& observe) {
  Tensor x = embed_tokens(config, inputs, dtype);
  if (observe) observe("embeddings", x);
  for (int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    const std::string path = "encoder.layer." + number_text(layer);
    const std::string state = "layer" + number_text(layer);
    x = attention_block(config, path + ".attention", x, inputs.offsets);
    if (observe) observe(state + ".attention", x);
    x = feed_forward_block(config, path + ".feed_forward", x);
    if (observe) observe(state + ".output", x);
  }
  return x;
}

Result<std::unique_ptr<Encoder>> open_bert(const ModelConfig& config) {
  CAPRA_ASSIGN(BertConfig read, read_bert_config(config));
  return make_bert(std::move(read));
}

std::unique_ptr<Encoder> make_bert(BertConfig config) {
  return std::make_unique<BertEncoder>(std::move(config));
}

}  // namespace capra
