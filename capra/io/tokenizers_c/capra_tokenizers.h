/* The C interface of the tokenizers crate, as far as capra needs it. Every call is safe to make
   from several threads at once on one tokenizer; no call aborts on bad input. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): constants of C */
enum {
  CAPRA_TOKENIZERS_OK = 0,
  CAPRA_TOKENIZERS_BAD_FILE = 1,         /* not a tokenizer.json that the crate understands */
  CAPRA_TOKENIZERS_NO_PRE_TOKENIZER = 2, /* WordPiece, and nothing that splits the text first */
  CAPRA_TOKENIZERS_RANDOM = 3,           /* a model with dropout: its tokens are drawn by chance */
  CAPRA_TOKENIZERS_ENCODE_FAILED = 4,    /* the model cannot encode this text */
  CAPRA_TOKENIZERS_LIMIT_TOO_SMALL = 5,  /* max_tokens leaves no room beside the special tokens */
  CAPRA_TOKENIZERS_PANIC = 6,            /* the crate gave up in a way it does not describe */
  CAPRA_TOKENIZERS_NOT_BUILT = 7         /* this build has no tokenizers: ../tokenizers_absent.cc */
};
/* NOLINTEND(readability-identifier-naming) */

typedef struct CapraTokenizer CapraTokenizer;

/* Bytes made by this library; freed with capra_tokenizers_free_text. */
typedef struct {
  uint8_t* data;
  size_t size;
} CapraTokenizersText;

/* One encoded text or pair; freed with capra_tokenizers_free_ids. */
typedef struct {
  uint32_t* ids;
  uint32_t* type_ids;
  size_t count;
  size_t dropped; /* tokens that max_tokens cut away */
} CapraTokenizersIds;

typedef struct {
  int add_special_tokens;
  int truncate_left; /* cut at the start of the text instead of its end */
  size_t max_tokens; /* special tokens included; 0: no limit */
} CapraTokenizersOptions;

/* What the files beside tokenizer.json ask for. The first three change a BertNormalizer: -1 leaves
   a setting as it is, 0 and 1 set it; strip_accents 2 means "as lowercase says". lowercase_first
   puts a lowering step before the normalizer. */
typedef struct {
  int lowercase;
  int strip_accents;
  int handle_chinese_chars;
  int lowercase_first;
} CapraTokenizersChanges;

/* 1, or 0 in a build without the crate. */
int capra_tokenizers_built(void);

/* Loads tokenizer.json; its padding and truncation are switched off. On failure *tokenizer is null
   and *message says why. */
int capra_tokenizers_load(const uint8_t* json, size_t size, CapraTokenizersChanges changes,
                          CapraTokenizer** tokenizer, CapraTokenizersText* message);
void capra_tokenizers_free(CapraTokenizer* tokenizer);

/* Encodes `first`, or the pair when `second` is not null; both are UTF-8. A pair is cut longest
   first. On failure *ids is empty and *message says why. */
int capra_tokenizers_encode(const CapraTokenizer* tokenizer, const uint8_t* first,
                            size_t first_size, const uint8_t* second, size_t second_size,
                            const CapraTokenizersOptions* options, CapraTokenizersIds* ids,
                            CapraTokenizersText* message);
void capra_tokenizers_free_ids(CapraTokenizersIds* ids);

/* The id of a token (of the model's vocabulary or an added one), or -1. */
int64_t capra_tokenizers_token_to_id(const CapraTokenizer* tokenizer, const uint8_t* token,
                                     size_t size);
/* The token of an id; 0 when there is none. */
int capra_tokenizers_id_to_token(const CapraTokenizer* tokenizer, uint32_t id,
                                 CapraTokenizersText* token);

/* A JSON object: what the file declares and what was changed. */
void capra_tokenizers_describe(const CapraTokenizer* tokenizer, CapraTokenizersText* json);
/* A tokenizer.json of what was loaded, with what was changed and switched off; on failure *text
   says why. */
int capra_tokenizers_save(const CapraTokenizer* tokenizer, CapraTokenizersText* text);
void capra_tokenizers_free_text(CapraTokenizersText* text);

#ifdef __cplusplus
}
#endif
