// Text to token ids, by the reference implementation of tokenizer.json.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/io/json.h"

struct CapraTokenizer;

namespace capra {

/// How one text is encoded.
struct EncodeOptions {
  bool special_tokens = true;
  int64_t max_tokens = 0;         ///< special tokens included; 0: no limit
  bool truncate_left = false;     ///< cut the beginning of a text instead of its end
  bool fail_on_overflow = false;  ///< refuse a text with more than max_tokens instead of cutting it
  bool strict_utf8 = false;       ///< refuse invalid UTF-8 instead of replacing it
};

/// The tokens of one text or pair.
struct EncodedText {
  std::vector<int32_t> ids;
  std::vector<int32_t>
      token_types;       ///< 0, and 1 for the second text of a pair where the model has it
  int64_t dropped = 0;   ///< tokens cut off by max_tokens
  int64_t replaced = 0;  ///< invalid UTF-8 sequences replaced by U+FFFD
};

/// What the files beside tokenizer.json say about it.
struct TokenizerChanges {
  /// These three change a BertNormalizer where they are given; `strip_accents` null in the file
  /// means "as lowercase says", which is a value of its own.
  std::optional<bool> lowercase = {};
  enum class StripAccents : uint8_t { AsIs, Yes, No, AsLowercase };
  StripAccents strip_accents = StripAccents::AsIs;
  std::optional<bool> handle_chinese_chars = {};
  /// Lower the text before anything else (do_lower_case of sentence_bert_config.json).
  bool lowercase_first = false;
};

/// A loaded tokenizer.json. The padding and truncation it declares are switched off: the limit is
/// the caller's, and a cut keeps the special tokens. Const calls may run at the same time from many
/// threads. Copies share.
class Tokenizer {
 public:
  /// False in a build without the tokenizers crate: then nothing can be opened.
  static bool built();

  /// Reads tokenizer.json, and do_lower_case, strip_accents and tokenize_chinese_chars of
  /// tokenizer_config.json where they are given. Fails with `tokenizer-not-built`,
  /// `tokenizer-missing`, `tokenizer-invalid`, `tokenizer-no-pre-tokenizer`, `tokenizer-random`,
  /// and those of JsonFile.
  static Result<Tokenizer> open_folder(const std::string& folder, bool lowercase_first = false);
  /// The same from text; `path` names it in messages.
  static Result<Tokenizer> parse(std::string_view json, const std::string& path,
                                 const TokenizerChanges& changes = {});

  /// Fails with `too-many-tokens`, `token-limit-too-small`, `utf8-invalid` or `tokenizer-failed`.
  Result<EncodedText> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// Two texts as one sequence; a cut takes from the longer one first.
  Result<EncodedText> encode_pair(std::string_view first, std::string_view second,
                                  const EncodeOptions& options = {}) const;

  /// A tokenizer.json that encodes as this one does, without limit and padding. Fails with
  /// `tokenizer-invalid`.
  Result<std::string> text() const;

  std::optional<int32_t> token_id(std::string_view token) const;
  std::optional<std::string> token(int32_t id) const;
  /// Tokens, added ones included.
  int64_t vocabulary_size() const { return vocabulary_size_; }
  /// The largest id plus one.
  int64_t id_bound() const { return id_bound_; }
  /// Special tokens that stand round a text (`pair`: round two).
  int64_t special_tokens(bool pair = false) const { return special_tokens_[pair ? 1 : 0]; }
  /// What the file declares: model, normalizer, normalizer_changed, pre_tokenizer, post_processor,
  /// added_tokens, declared_truncation, declared_padding and the numbers above.
  const Json& description() const { return description_; }

 private:
  Result<EncodedText> encode_texts(std::string_view first, const std::string_view* second,
                                   const EncodeOptions& options) const;

  std::shared_ptr<const CapraTokenizer> tokenizer_;
  std::string path_;
  Json description_;
  int64_t vocabulary_size_ = 0;
  int64_t id_bound_ = 0;
  int64_t special_tokens_[2] = {0, 0};
};

}  // namespace capra
