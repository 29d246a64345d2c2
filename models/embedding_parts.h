// The parts of a loaded model, for commands that look inside: verify, graph, bench, inspect.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capra/base/thread_pool.h"
#include "capra/io/hf_config.h"
#include "capra/io/tokenizer.h"
#include "capra/runtime/executable.h"
#include "capra/runtime/target.h"
#include "models/embedding_model.h"
#include "models/encoder.h"
#include "models/sentence_head.h"
#include "models/weights.h"

namespace capra {

/// Buffers of one batch in flight.
struct BatchWorkspace {
  Workspace workspace;
  std::vector<int32_t> ids;
  std::vector<int32_t> positions;
  std::vector<int32_t> offsets;
  std::vector<std::byte> hidden;
};

struct EmbeddingModel::Parts {
  std::string folder;
  EmbeddingOptions options;
  SentenceConfig config;
  std::unique_ptr<Encoder> encoder;
  SentenceHead head = {};
  Weights weights;
  Graph exact_graph;  ///< packed, as traced
  Graph graph;        ///< the same with the approximations that were asked for
  const Target* target = nullptr;
  std::shared_ptr<ThreadPool> pool;
  std::unique_ptr<Executable> executable;  ///< null where the options say that none is needed
  PassReport report;

  std::optional<Tokenizer> tokenizer;  ///< absent: only token ids can be given
  Diagnostic no_tokenizer;             ///< why it is absent
  std::string prompt;                  ///< put before every text
  int64_t prompt_size = 0;             ///< tokens of it, left out of the pooling

  TokenLimit limit;
  int64_t token_budget = 0;
  std::vector<std::string> remarks;
  std::vector<Approximation> approximations;  ///< in force, as the passes recorded them

  /// A traced graph with the approximations that the options and the target ask for. They come
  /// before both eager and optimized execution, so that these stay bit-equal. `made` receives what
  /// was recorded.
  Result<Graph> approximated(Graph traced, PassReport* made = nullptr) const;

  /// How the options say graphs are compiled.
  CompileOptions compile_options() const;

  /// Token ids to vectors: the whole of embed_ids. `prompt_tokens` is empty, or says for each
  /// sequence how many tokens at its start the pooling leaves out.
  Status embed_packed(std::span<const int32_t> ids, std::span<const int64_t> offsets,
                      std::span<float> vectors, std::span<const int64_t> prompt_tokens = {}) const;
  /// One filled batch to its vectors; `first` is the number of its first sequence, for messages.
  Status run_batch(BatchWorkspace& batch, int64_t first, std::span<float> vectors,
                   std::span<const int64_t> prompt_tokens) const;

  /// A workspace for one batch; given back when done, so that a steady state allocates nothing.
  std::unique_ptr<BatchWorkspace> take_workspace() const;
  void give_back(std::unique_ptr<BatchWorkspace> workspace) const;

  mutable std::mutex idle_mutex;
  mutable std::vector<std::unique_ptr<BatchWorkspace>> idle;
};

/// Calls `body`; an `Error` or a lack of memory becomes the failure of the Result it returns.
template <class R, class Body>
R as_result(const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    return fail(error.diagnostic());
  } catch (const std::bad_alloc&) {
    return fail("out-of-memory", "there is not enough memory for this request", {},
                "give a smaller input, --token-budget or --max-length");
  }
}

/// Whether packed ids can be run: offsets that cut them, ids within the vocabulary, lengths within
/// the positions. Fails as EmbeddingModel::embed_ids says.
Status check_packed(const Encoder& encoder, std::span<const int32_t> ids,
                    std::span<const int64_t> offsets);
/// The end of the batch that starts at sequence `first`: as many whole sequences as `budget` tokens
/// hold, at least one.
int64_t batch_end(std::span<const int64_t> offsets, int64_t first, int64_t budget);

/// The sequences [first, last) of packed ids as the encoder's inputs.
void fill_batch(const Encoder& encoder, std::span<const int32_t> ids,
                std::span<const int64_t> offsets, int64_t first, int64_t last,
                BatchWorkspace& batch);
/// The encoder's packed inputs (ids, positions, offsets), pointing into `batch` and `extents`.
std::array<InputRef, 3> batch_inputs(const BatchWorkspace& batch, std::array<int64_t, 2>& extents);

/// What these rewrites approximated on the way to `graph`; what one does not say of itself is taken
/// from the note of its node.
std::vector<Approximation> approximations_made(std::span<const Rewrite> rewrites,
                                               const Graph& graph);

}  // namespace capra
