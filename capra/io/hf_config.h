// What a Hugging Face or sentence-transformers folder declares, beside its weights and tokenizer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "capra/base/result.h"
#include "capra/io/json_file.h"

namespace capra {

/// `config.json` of a model. Which keys mean something is the model family's to say.
class ModelConfig : public JsonFile {
 public:
  /// Fails with `config-missing` when there is no config.json, and with those of JsonFile::open.
  static Result<ModelConfig> open_folder(const std::string& folder);
  /// The same from text; `path` names it in messages.
  static Result<ModelConfig> parse(std::string_view text, std::string path);
};

/// Activation functions of Dense modules.
enum class DenseActivation : uint8_t { Identity, Tanh, Relu, GeluExact, Silu, Sigmoid };

/// A linear layer over the pooled vector: activation(W x + b).
struct DenseModule {
  std::string folder;
  int64_t in = 0;
  int64_t out = 0;
  bool bias = true;
  DenseActivation activation = DenseActivation::Tanh;
  std::string activation_name;  ///< as the file spells it; empty when it does not
};
/// v / max(|v|, 1e-12).
struct NormalizeModule {};
using HeadModule = std::variant<DenseModule, NormalizeModule>;

/// What stands round the encoder: the sentence-transformers layout of a folder.
struct SentenceConfig {
  std::string folder;
  /// Where config.json, tokenizer and weights are: usually the folder itself.
  std::string transformer_folder;
  /// Whether modules.json is there. If not, this is what sentence-transformers makes of a plain
  /// folder: mean pooling, nothing after it.
  bool declared = false;

  /// Poolings whose vectors are concatenated, in order: cls, max, mean, mean_sqrt_len,
  /// weighted_mean, last_token.
  std::vector<std::string> pooling;
  /// The hidden size that the pooling file names; 0 without modules.json.
  int64_t pooled_size = 0;
  /// False: tokens of the prompt are left out of the pooling.
  bool include_prompt = true;
  /// What follows the pooling, in order.
  std::vector<HeadModule> head;

  /// The file with the two settings below; older folders name it after their family.
  std::string sentence_file = "sentence_bert_config.json";
  /// max_seq_length of sentence_file.
  std::optional<int64_t> sentence_limit;
  /// model_max_length of tokenizer_config.json; absent where it is a placeholder for "no limit".
  std::optional<int64_t> tokenizer_limit;
  /// do_lower_case of sentence_file: texts are lowered before the tokenizer.
  bool lower_case = false;
  /// truncation_side of tokenizer_config.json: texts lose their beginning, not their end.
  bool truncate_left = false;

  /// Prompt name to text, from config_sentence_transformers.json.
  std::map<std::string, std::string, std::less<>> prompts;
  std::optional<std::string> default_prompt;
  /// similarity_fn_name, as the file spells it; empty when it does not.
  std::string similarity;
  /// What a user should know: defaults taken because a file is absent. One sentence each.
  std::vector<std::string> remarks;
};

/// Reads modules.json and what it names, sentence_bert_config.json (or what older folders have in
/// its place), tokenizer_config.json and config_sentence_transformers.json. Fails with those of
/// JsonFile, `modules-invalid`, `module-unknown`, `module-order`, `pooling-unknown`,
/// `dense-activation-unknown`, `dense-shape` or `module-option-unsupported`.
Result<SentenceConfig> read_sentence_config(const std::string& folder);

/// Numbers in the vector that leaves, for an encoder of this hidden size.
int64_t sentence_dimension(const SentenceConfig& config, int64_t hidden_size);

/// The most tokens of a text, special tokens included, and the file that decided.
struct TokenLimit {
  int64_t tokens = 0;
  std::string source;  ///< SentenceConfig::sentence_file, `tokenizer_config.json` or `positions`
};
/// The smallest that sentence_file (else tokenizer_config.json) and the encoder's
/// positions allow.
TokenLimit token_limit(const SentenceConfig& config, int64_t positions);

/// `identity`, `tanh`, `relu`, `gelu (exact, erf)`, `silu`, `sigmoid`.
std::string_view dense_activation_text(DenseActivation activation);

/// The parts of read_sentence_config that look at one file each.
struct ModuleEntry {
  std::string kind;  ///< Transformer, Pooling, Dense, Normalize, Dropout
  std::string path;  ///< relative to the folder; may be empty
};
Result<std::vector<ModuleEntry>> parse_modules(const Json& json, const std::string& path);
Status parse_pooling(const JsonFile& file, SentenceConfig& config);
Result<DenseModule> parse_dense(const JsonFile& file, std::string folder);
Status parse_sentence_limits(const JsonFile& file, SentenceConfig& config);
Status parse_tokenizer_limits(const JsonFile& file, SentenceConfig& config);
Status parse_prompts(const JsonFile& file, SentenceConfig& config);

}  // namespace capra
