// What every model family gives: how to read a config, and one definition of the encoder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/io/hf_config.h"
#include "capra/ir/graph.h"

namespace capra {

/// How an encoder is traced.
enum class SequenceForm : uint8_t {
  Single,  ///< one sequence: ids [length] in, hidden [length, hidden_size] out
  Packed,  ///< many without padding: ids, positions [tokens] and offsets [sequences + 1] in
};

struct TraceOptions {
  SequenceForm form = SequenceForm::Packed;
  Dim length = "tokens";     ///< of the token axis; symbolic or fixed
  bool token_types = false;  ///< also take `token_types` [tokens]; otherwise every token has type 0
  bool states = false;       ///< also output every intermediate state, by its name
  DType dtype = DType::F32;
  /// What is output in the place of the last state, computed from it; empty: the last state itself.
  std::function<Tensor(const Tensor& hidden)> end = {};
  std::string_view end_name = "hidden";
};

/// An encoder as its config describes it. Immutable.
class Encoder {
 public:
  virtual ~Encoder() = default;

  virtual int64_t hidden_size() const = 0;
  /// Width of the feed-forward block.
  virtual int64_t intermediate_size() const = 0;
  virtual int64_t layers() const = 0;
  virtual int64_t heads() const = 0;
  virtual int64_t vocabulary() const = 0;
  /// Rows of the position table.
  virtual int64_t max_positions() const = 0;
  /// Types a token can have; 1 if the model has none.
  virtual int64_t token_types() const = 0;
  /// The position of the first token of a sequence.
  virtual int64_t first_position() const { return 0; }
  /// Tokens the longest sequence may have.
  int64_t longest_sequence() const { return max_positions() - first_position(); }
  /// Lines for people: name and value, such as `activation`: `gelu (exact, erf), from hidden_act`.
  virtual std::vector<std::pair<std::string, std::string>> describe() const = 0;

  /// Traces the encoder; the last output, `hidden` unless the options name another, is the last
  /// state or what they compute from it. Only shapes are computed.
  virtual Graph trace(const TraceOptions& options) const = 0;
  /// The names a parameter may have in a checkpoint, best first.
  virtual std::vector<std::string> checkpoint_names(std::string_view parameter_path) const = 0;
  /// Tensors of the checkpoint that this encoder is known not to use.
  virtual bool is_known_unused(std::string_view checkpoint_name) const = 0;
};

/// A family of models: what `model_type` in a config picks.
struct ModelFamily {
  std::string_view model_type;
  std::string_view summary;
  Result<std::unique_ptr<Encoder>> (*open)(const ModelConfig& config);
};

/// All families, sorted by model_type.
std::span<const ModelFamily> model_families();

/// The encoder that `config` describes; fails with `model-family-unknown`, which lists the known
/// ones, or with what the family found wrong.
Result<std::unique_ptr<Encoder>> open_encoder(const ModelConfig& config);

}  // namespace capra
