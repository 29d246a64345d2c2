// The proof of parity: eager, optimized and the double-precision oracle on the same texts, state by
// state; or the program of a target that runs programs, beside the oracle.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "capra/ir/array.h"
#include "capra/passes/pass.h"
#include "models/embedding_model.h"

namespace capra {

/// Named reference values: `embeddings` [texts, dimension], `pooled` [texts, hidden], and states
/// such as `text4.layer0.output` [tokens, hidden] for any text.
struct Reference {
  std::string path;
  std::map<std::string, Array, std::less<>> tensors;
};
/// Reads a safetensors file of f64 or f32 values.
Result<Reference> read_reference(const std::string& path);

/// One stage of the computation over all texts.
struct StageResult {
  std::string stage;             ///< `embeddings`, `layer0.attention`, ..., `vector`
  double max_abs_error = 0;      ///< optimized against the oracle
  int64_t worst_text = 0;        ///< where
  double eager_difference = 0;   ///< eager against optimized
  int64_t differing_values = 0;  ///< values whose bits differ between eager and optimized
};

/// Values compared with a file.
struct ReferenceResult {
  std::string name;             ///< `embeddings`, `pooled`, or a state
  double optimized_error = 0;   ///< largest difference from the target's value
  double oracle_error = 0;      ///< and from the oracle's
  double median_row_error = 0;  ///< of the target, over rows; only of `embeddings`
};

struct Verification {
  std::string target;
  bool is_program = false;  ///< run a text at a time; nothing is eager, and no batch is compared
  int64_t texts = 0;
  int64_t tokens = 0;
  std::vector<StageResult> stages;
  std::vector<ReferenceResult> references;
  double vector_error =
      0;  ///< largest difference of a vector from the oracle's, or the reference's
  double median_vector_error = 0;      ///< median over texts of the largest difference in a row
  int64_t differing_values = 0;        ///< eager against optimized, over all stages
  int64_t vectors_not_finite = 0;      ///< texts whose vector holds a NaN or an infinity
  int64_t batch_differing_values = 0;  ///< a text alone against the same text in a batch
  std::vector<Approximation> approximations;
  std::vector<std::string> unmatched;  ///< reference tensors that name nothing here
};

/// Runs `tokens` through the model. The oracle runs the graph as the checkpoint declares it, also
/// when approximations are in force. Of a target without an eager sink it is the program that is
/// run, as exported for texts of any length. The model itself need not be compiled. `progress` is
/// told how many texts are done.
Result<Verification> verify_model(const EmbeddingModel& model, const PackedTokens& tokens,
                                  const Reference* reference,
                                  const std::function<void(int64_t)>& progress = {});

}  // namespace capra
