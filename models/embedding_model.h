// Text to vectors from a checkpoint folder: the public interface, and what the driver itself uses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capra/base/result.h"

namespace capra {

struct Target;

/// What happens to a text with more tokens than the limit.
enum class Overflow : uint8_t { Truncate, Fail };

/// How a model is loaded and used. What is not set comes from the checkpoint.
struct EmbeddingOptions {
  int threads = 0;                          ///< 0: the CPUs this process may use
  std::string target = "cpu";               ///< `cpu`, `interp` or another of `targets`
  std::vector<const Target*> targets = {};  ///< to choose from; empty: those built in
  std::optional<int64_t> max_length = {};  ///< tokens a text; may exceed the checkpoint's own limit
  Overflow on_overflow = Overflow::Truncate;
  std::optional<std::string> pooling =
      {};  ///< cls, mean, max, mean_sqrt_len, weighted_mean, last_token
  std::optional<bool> normalize = {};
  std::optional<std::string> prompt =
      {};                    ///< name of a prompt of the checkpoint, or the text itself
  int64_t token_budget = 0;  ///< tokens computed together; 0: by the size of the caches
  bool tokenizer = true;     ///< false: only token ids will be given
  bool strict_utf8 = false;  ///< refuse invalid UTF-8 instead of replacing it
  std::vector<std::string> approximate = {};  ///< recorded legalizations, `gelu=tanh`
  bool compile = true;  ///< false: no vectors will be asked for, and nothing is made ready for that
  /// Of targets that run the programs they write: extensions of the language not to use.
  std::vector<std::string> without = {};
  std::string tool_folder = {};  ///< where the target's tools are; empty: where programs are found
  double tool_seconds = 600;     ///< each run of a tool may take
};

/// What became of one text.
struct TextReport {
  int64_t tokens = 0;          ///< used, special tokens included
  int64_t dropped_tokens = 0;  ///< cut off by the length limit
  int64_t replaced = 0;        ///< invalid UTF-8 sequences, each replaced by U+FFFD
  bool truncated() const { return dropped_tokens > 0; }
};

/// Token ids of several texts, one after another: text i is ids[offsets[i]] to ids[offsets[i + 1]].
struct PackedTokens {
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0};
  std::vector<TextReport> reports;
  int64_t sequences() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

/// A line about the model: its name (`activation`) and what holds (`gelu (exact, erf)...`).
using DescriptionLine = std::pair<std::string, std::string>;

/// A sentence-embedding model. Safe to share: const calls may run at the same time from many
/// threads, and each result is bit-equal to that of a lone call.
class EmbeddingModel {
 public:
  /// Opens a Hugging Face or sentence-transformers folder. Fails with a named diagnostic for
  /// anything that is missing, malformed or not known; see docs/diagnostics.md.
  static Result<EmbeddingModel> load(const std::string& folder,
                                     const EmbeddingOptions& options = {});

  EmbeddingModel(EmbeddingModel&&) noexcept;
  EmbeddingModel& operator=(EmbeddingModel&&) noexcept;
  ~EmbeddingModel();

  /// Numbers in a vector.
  int64_t dimension() const;
  /// Tokens a text may have.
  int64_t max_length() const;
  /// Tokens computed together.
  int64_t token_budget() const;
  int threads() const;
  /// Whether texts can be given; without a tokenizer only token ids can. The failure says why.
  Status has_tokenizer() const;

  /// Token ids of texts, special tokens included, cut to max_length. Fails with `too-many-tokens`
  /// under Overflow::Fail, `utf8-invalid` under strict_utf8.
  Result<PackedTokens> tokenize(std::span<const std::string_view> texts) const;

  /// Vectors of texts, row by row, into `vectors` [texts, dimension()].
  /// `reports` is empty or has one place a text.
  Status embed(std::span<const std::string_view> texts, std::span<float> vectors,
               std::span<TextReport> reports = {}) const;

  /// Vectors of what `tokenize` gave: both together are `embed`. A prompt of which the checkpoint
  /// says so is left out of the pooling.
  Status embed_tokens(const PackedTokens& packed, std::span<float> vectors) const;

  /// Vectors of token ids into `vectors` [sequences, dimension()]: sequence i is ids[offsets[i]] to
  /// ids[offsets[i + 1]]. Ids are used as they are: nothing is added or cut. Fails with
  /// `token-id-out-of-range`, `too-many-tokens`, `sequence-empty` or `offsets-invalid`.
  Status embed_ids(std::span<const int32_t> ids, std::span<const int64_t> offsets,
                   std::span<float> vectors) const;

  /// What the folder declares and what runs, line by line.
  std::vector<DescriptionLine> describe() const;
  /// What the options override, and other things a user should know; one sentence each.
  const std::vector<std::string>& remarks() const;
  /// The parts, for commands that look inside (models/embedding_parts.h).
  struct Parts;
  const Parts& parts() const { return *parts_; }

 private:
  static Result<std::unique_ptr<Parts>> open_parts(const std::string& folder,
                                                   const EmbeddingOptions& options);
  Result<PackedTokens> tokenize_texts(std::span<const std::string_view> texts) const;
  explicit EmbeddingModel(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace capra
