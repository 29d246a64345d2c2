// The C interface of the tokenizers crate as a C++ class: ownership, UTF-8 and named errors.
#include "capra/io/tokenizer.h"

#include <fmt/format.h>

#include "capra/base/buffer.h"
#include "capra/base/text/utf8.h"
#include "capra/io/json_file.h"
#include "capra/io/tokenizers_c/capra_tokenizers.h"

namespace capra {
namespace {

const uint8_t* bytes_of(std::string_view text) {
  // Null would mean "no text" across the interface.
  return reinterpret_cast<const uint8_t*>(text.data() == nullptr ? "" : text.data());
}

std::string take_text(CapraTokenizersText& text) {
  std::string taken(reinterpret_cast<const char*>(text.data), text.size);
  capra_tokenizers_free_text(&text);
  return taken;
}

struct IdsRelease {
  CapraTokenizersIds* ids;
  ~IdsRelease() { capra_tokenizers_free_ids(ids); }
};

Failure not_built(const std::string& path) {
  return fail("tokenizer-not-built", "this build has no tokenizer, needed to encode text", path,
              "give token ids, or build with cargo installed");
}

Failure load_failure(int code, const std::string& message, const std::string& path) {
  switch (code) {
    case CAPRA_TOKENIZERS_NOT_BUILT:
      return not_built(path);
    case CAPRA_TOKENIZERS_NO_PRE_TOKENIZER:
      return fail("tokenizer-no-pre-tokenizer",
                  message + ": every text would be one unknown token, needed a pre-tokenizer", path,
                  "use a tokenizer.json with a pre_tokenizer, such as BertPreTokenizer");
    case CAPRA_TOKENIZERS_RANDOM:
      return fail("tokenizer-random",
                  message + ", needed none: the same text must give the same tokens", path,
                  "set dropout to null in tokenizer.json");
    default:
      return fail("tokenizer-invalid", message, path, "get tokenizer.json again");
  }
}

Failure encode_failure(int code, const std::string& message, const std::string& path) {
  if (code == CAPRA_TOKENIZERS_NOT_BUILT) return not_built(path);
  if (code == CAPRA_TOKENIZERS_LIMIT_TOO_SMALL) {
    return fail("token-limit-too-small", message, path, "raise --max-length");
  }
  return fail("tokenizer-failed", message, path, "remove the text, or use another tokenizer.json");
}

int setting(const std::optional<bool>& value) { return value ? int{*value} : -1; }

CapraTokenizersChanges to_c(const TokenizerChanges& changes) {
  CapraTokenizersChanges c{};
  c.lowercase = setting(changes.lowercase);
  c.handle_chinese_chars = setting(changes.handle_chinese_chars);
  c.lowercase_first = int{changes.lowercase_first};
  switch (changes.strip_accents) {
    case TokenizerChanges::StripAccents::AsIs:
      c.strip_accents = -1;
      break;
    case TokenizerChanges::StripAccents::No:
      c.strip_accents = 0;
      break;
    case TokenizerChanges::StripAccents::Yes:
      c.strip_accents = 1;
      break;
    case TokenizerChanges::StripAccents::AsLowercase:
      c.strip_accents = 2;
      break;
  }
  return c;
}

Status read_changes(const std::string& path, TokenizerChanges& changes) {
  CAPRA_ASSIGN(const JsonFile file, JsonFile::open(path));
  if (file.has("do_lower_case")) {
    CAPRA_ASSIGN(changes.lowercase, file.boolean("do_lower_case"));
  }
  if (file.has("tokenize_chinese_chars")) {
    CAPRA_ASSIGN(changes.handle_chinese_chars, file.boolean("tokenize_chinese_chars"));
  }
  if (file.has("strip_accents")) {
    CAPRA_ASSIGN(const bool strip, file.boolean("strip_accents"));
    changes.strip_accents =
        strip ? TokenizerChanges::StripAccents::Yes : TokenizerChanges::StripAccents::No;
  } else if (file.json().find("strip_accents") != nullptr) {
    changes.strip_accents = TokenizerChanges::StripAccents::AsLowercase;
  }
  return {};
}

}  // namespace

bool Tokenizer::built() { return capra_tokenizers_built() != 0; }

Result<Tokenizer> Tokenizer::open_folder(const std::string& folder, bool lowercase_first) {
  const std::string path = folder + "/tokenizer.json";
  if (!built()) return not_built(path);
  if (!file_exists(path)) {
    return fail("tokenizer-missing", "there is no tokenizer.json", folder,
                "give token ids, or save the tokenizer in its fast form");
  }
  TokenizerChanges changes;
  changes.lowercase_first = lowercase_first;
  const std::string config = folder + "/tokenizer_config.json";
  if (file_exists(config)) CAPRA_TRY(read_changes(config, changes));
  CAPRA_ASSIGN(const std::string json, read_file(path));
  return parse(json, path, changes);
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& path,
                                   const TokenizerChanges& changes) {
  CapraTokenizer* raw = nullptr;
  CapraTokenizersText message{};
  const int code =
      capra_tokenizers_load(bytes_of(json), json.size(), to_c(changes), &raw, &message);
  if (code != CAPRA_TOKENIZERS_OK) return load_failure(code, take_text(message), path);

  Tokenizer tokenizer;
  tokenizer.tokenizer_ = {
      raw, [](const CapraTokenizer* t) { capra_tokenizers_free(const_cast<CapraTokenizer*>(t)); }};
  tokenizer.path_ = path;
  CapraTokenizersText description{};
  capra_tokenizers_describe(raw, &description);
  CAPRA_ASSIGN(const JsonFile file, JsonFile::parse(take_text(description), path));
  CAPRA_ASSIGN(tokenizer.vocabulary_size_, file.integer("vocabulary_size", 0));
  CAPRA_ASSIGN(tokenizer.id_bound_, file.integer("id_bound", 0));
  CAPRA_ASSIGN(tokenizer.special_tokens_[0], file.integer("special_tokens_single", 0));
  CAPRA_ASSIGN(tokenizer.special_tokens_[1], file.integer("special_tokens_pair", 0));
  if (tokenizer.id_bound_ > int64_t{INT32_MAX} + 1) {
    return fail("tokenizer-invalid",
                fmt::format("the largest id is {}, needed ids below 2^31", tokenizer.id_bound_ - 1),
                path, "get tokenizer.json again");
  }
  tokenizer.description_ = file.json();
  return tokenizer;
}

Result<std::string> Tokenizer::text() const {
  CapraTokenizersText text{};
  const int code = capra_tokenizers_save(tokenizer_.get(), &text);
  std::string taken = take_text(text);
  if (code != CAPRA_TOKENIZERS_OK) return load_failure(code, taken, path_);
  return taken;
}

Result<EncodedText> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return encode_texts(text, nullptr, options);
}

Result<EncodedText> Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                           const EncodeOptions& options) const {
  return encode_texts(first, &second, options);
}

Result<EncodedText> Tokenizer::encode_texts(std::string_view first, const std::string_view* second,
                                            const EncodeOptions& options) const {
  EncodedText encoded;
  std::string repaired_first;
  std::string repaired_second;
  std::string_view other = second == nullptr ? std::string_view() : *second;
  CAPRA_TRY(correct_utf8(first, options.strict_utf8, repaired_first, encoded.replaced));
  CAPRA_TRY(correct_utf8(other, options.strict_utf8, repaired_second, encoded.replaced));

  CapraTokenizersOptions c{};
  c.add_special_tokens = int{options.special_tokens};
  c.truncate_left = int{options.truncate_left};
  c.max_tokens = options.max_tokens > 0 ? static_cast<size_t>(options.max_tokens) : 0;
  CapraTokenizersIds ids{};
  CapraTokenizersText message{};
  const int code = capra_tokenizers_encode(tokenizer_.get(), bytes_of(first), first.size(),
                                           second == nullptr ? nullptr : bytes_of(other),
                                           other.size(), &c, &ids, &message);
  if (code != CAPRA_TOKENIZERS_OK) return encode_failure(code, take_text(message), path_);
  const IdsRelease release{&ids};
  encoded.dropped = static_cast<int64_t>(ids.dropped);
  if (encoded.dropped > 0 && options.fail_on_overflow) {
    return fail(
        "too-many-tokens",
        fmt::format("the text has {} tokens, the limit is {}", ids.count + ids.dropped,
                    options.max_tokens),
        "", "raise --max-length as far as the model allows, or cut with --on-overflow truncate");
  }
  encoded.ids.assign(ids.ids, ids.ids + ids.count);
  encoded.token_types.assign(ids.type_ids, ids.type_ids + ids.count);
  return encoded;
}

std::optional<int32_t> Tokenizer::token_id(std::string_view token) const {
  const int64_t id = capra_tokenizers_token_to_id(tokenizer_.get(), bytes_of(token), token.size());
  if (id < 0) return std::nullopt;
  return static_cast<int32_t>(id);
}

std::optional<std::string> Tokenizer::token(int32_t id) const {
  CapraTokenizersText text{};
  if (id < 0) return std::nullopt;
  if (capra_tokenizers_id_to_token(tokenizer_.get(), static_cast<uint32_t>(id), &text) == 0) {
    return std::nullopt;
  }
  return take_text(text);
}

}  // namespace capra
