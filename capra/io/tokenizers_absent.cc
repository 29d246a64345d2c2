// Stands in for the tokenizers crate in a build without it: nothing loads, and the code says why.
#include "capra/io/tokenizers_c/capra_tokenizers.h"

extern "C" {

int capra_tokenizers_built(void) { return 0; }

int capra_tokenizers_load(const uint8_t*, size_t, CapraTokenizersChanges,
                          CapraTokenizer** tokenizer, CapraTokenizersText* message) {
  *tokenizer = nullptr;
  *message = {};
  return CAPRA_TOKENIZERS_NOT_BUILT;
}

void capra_tokenizers_free(CapraTokenizer*) {}

int capra_tokenizers_encode(const CapraTokenizer*, const uint8_t*, size_t, const uint8_t*, size_t,
                            const CapraTokenizersOptions*, CapraTokenizersIds* ids,
                            CapraTokenizersText* message) {
  *ids = {};
  *message = {};
  return CAPRA_TOKENIZERS_NOT_BUILT;
}

void capra_tokenizers_free_ids(CapraTokenizersIds*) {}
int64_t capra_tokenizers_token_to_id(const CapraTokenizer*, const uint8_t*, size_t) { return -1; }

int capra_tokenizers_id_to_token(const CapraTokenizer*, uint32_t, CapraTokenizersText* token) {
  *token = {};
  return 0;
}

void capra_tokenizers_describe(const CapraTokenizer*, CapraTokenizersText* json) { *json = {}; }
int capra_tokenizers_save(const CapraTokenizer*, CapraTokenizersText* text) {
  *text = {};
  return CAPRA_TOKENIZERS_NOT_BUILT;
}

void capra_tokenizers_free_text(CapraTokenizersText*) {}

}  // extern "C"
