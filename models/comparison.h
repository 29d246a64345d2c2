// Differences between evaluations of one model, gathered text by text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capra/ir/array.h"
#include "models/embedding_parts.h"
#include "models/verify.h"

namespace capra {

/// Every state of one text, [tokens, width] each; the last is the last hidden state.
using States = std::vector<Array>;

/// Rows [from, to) of every state.
States rows_of(const States& states, int64_t from, int64_t to);
/// Values whose bits differ; NaN equals NaN.
int64_t count_differing(const Array& a, const Array& b);
/// The largest difference; a NaN on one side alone counts as infinite.
double max_difference(const Array& a, const Array& b);
/// The vector of one text from its last hidden state: of f64 states by the oracle's head.
Array vector_of(const EmbeddingModel::Parts& parts, const Array& hidden);
/// The encoder's packed inputs as arrays.
std::vector<Array> batch_arrays(const BatchWorkspace& batch);

/// What the evaluations of one text gave. `eager` and `alone` are empty where there are none.
struct TextStates {
  States fast;   ///< by the target
  States exact;  ///< by the oracle
  States eager;
  States alone;  ///< by the target, outside a batch
};

class Comparison {
 public:
  /// `names` are those of the states. `reference` may be null.
  Comparison(const EmbeddingModel::Parts& parts, const PackedTokens& tokens,
             const Reference* reference, std::vector<std::string> names);

  /// Fails with `reference-shape`, as `add` does.
  Status check_reference() const;
  Status add(int64_t text, const TextStates& states);
  Verification finish();

 private:
  void compare_stage(size_t stage, int64_t text, const Array& fast, const Array& exact,
                     const Array* eager);
  Status compare_reference(const std::string& name, int64_t row, const Array& fast,
                           const Array& exact);
  Array pooled_of(const Array& hidden) const;

  const EmbeddingModel::Parts& parts_;
  const PackedTokens& tokens_;
  const Reference* reference_;
  std::vector<std::string> names_;
  std::vector<double> vector_errors_;
  std::vector<double> reference_errors_;
  Verification result_;
};

}  // namespace capra
