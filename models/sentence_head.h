// What turns hidden states into a sentence vector: pooling, then dense layers and L2 normalization
// in the order the checkpoint declares. On the CPU it stands outside the encoder graph and computes
// in double; what it means is written on tensors, for the oracle and for programs of other
// machines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/parameters.h"
#include "capra/nn/layers.h"

namespace capra {

enum class Pooling : uint8_t { Cls, Mean, Max, MeanSqrtLen, WeightedMean, LastToken };

/// `cls`, `mean`, `max`, `mean_sqrt_len`, `weighted_mean`, `last_token`.
std::string_view pooling_name(Pooling pooling);
/// Fails with `pooling-unknown`, which lists the names.
Result<Pooling> find_pooling(std::string_view name);

/// y = activation(W x + b).
struct DenseStep {
  int64_t in = 0;
  int64_t out = 0;
  Array weight;               ///< f32[out, in]
  std::optional<Array> bias;  ///< f32[out]
  nn::Activation activation = nn::Activation::Tanh;
};
/// v / max(|v|, 1e-12).
struct NormalizeStep {};

/// Immutable; safe to share.
class SentenceHead {
 public:
  using Step = std::variant<DenseStep, NormalizeStep>;

  /// Several poolings are concatenated in the order given. Fails with `dense-shape` when a layer
  /// does not fit what comes before it.
  static Result<SentenceHead> make(int64_t hidden_size, std::vector<Pooling> poolings,
                                   std::vector<Step> steps);

  /// Numbers in the vector that leaves.
  int64_t dimension() const { return dimension_; }
  const std::vector<Pooling>& poolings() const { return poolings_; }
  const std::vector<Step>& steps() const { return steps_; }
  bool normalizes() const;

  /// Hidden states [tokens, hidden_size] of one sequence, tokens >= 1, to `vector` [dimension()]:
  /// sums by the contract's partials, one rounding where the vector leaves. The first
  /// `prompt_tokens` are left out of every pooling but cls.
  void apply(std::span<const float> hidden, int64_t tokens, std::span<float> vector,
             int64_t prompt_tokens = 0) const;

  /// The pooled states of `apply`, before any step and before rounding.
  std::vector<double> pool(std::span<const float> hidden, int64_t tokens,
                           int64_t prompt_tokens = 0) const;

  /// The meaning of the head, on one sequence of states [tokens, hidden_size]; tokens may be
  /// symbolic. `pooled` gives [hidden_size times the number of poolings], `finished` the vector
  /// [dimension()] from that. Dense layers take `parameters` from the sink.
  Tensor pooled(const Tensor& hidden, int64_t prompt_tokens = 0) const;
  Tensor finished(const Tensor& pooled) const;
  /// Data of the dense layers by parameter path, `head.dense.0.weight`.
  Parameters parameters() const;

  /// `finished(pooled(hidden))` by the oracle: it shares no arithmetic with `apply`.
  /// `pooled_states` receives the pooled states.
  std::vector<double> apply_exact(std::span<const double> hidden, int64_t tokens,
                                  std::vector<double>* pooled_states = nullptr,
                                  int64_t prompt_tokens = 0) const;

 private:
  void pool_into(std::span<const float> hidden, int64_t tokens, int64_t prompt_tokens,
                 std::vector<double>& pooled) const;

  int64_t hidden_size_ = 0;
  int64_t dimension_ = 0;
  int64_t widest_ = 0;
  std::vector<Pooling> poolings_;
  std::vector<Step> steps_;
};

}  // namespace capra
