// Small tokenizer.json texts: one of each kind that encoders come with.
#pragma once

#include <string>

namespace capra {

/// Replaces the first `from` in `text`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// WordPiece as BERT has it, with padding to 16 and truncation to 4 that must not act.
inline const std::string kWordPiece = R"({
"version":"1.0",
"truncation":{"direction":"Right","max_length":4,"strategy":"LongestFirst","stride":0},
"padding":{"strategy":{"Fixed":16},"direction":"Right","pad_to_multiple_of":null,"pad_id":0,"pad_type_id":0,"pad_token":"[PAD]"},
"added_tokens":[
 {"id":0,"content":"[PAD]","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
 {"id":1,"content":"[UNK]","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
 {"id":2,"content":"[CLS]","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
 {"id":3,"content":"[SEP]","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},
"post_processor":{"type":"TemplateProcessing",
 "single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}}],
 "pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}},
  {"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"[SEP]","type_id":1}}],
 "special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]},"[SEP]":{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}},
"decoder":null,
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":10,
 "vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"a":4,"b":5,"c":6,"d":7,"e":8,"##a":9,"##b":10,"Cafe":11,"cafe":12,"café":13,"Café":14,
 "日":15,"日本":16}}})";

/// Unigram with Metaspace and two closing tokens, as no common model has it: the cut must count
/// them.
inline const std::string kUnigram = R"({
"version":"1.0","truncation":null,"padding":null,
"added_tokens":[
 {"id":0,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
 {"id":1,"content":"</s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
 {"id":2,"content":"<unk>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
"normalizer":{"type":"NFKC"},
"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true},
"post_processor":{"type":"TemplateProcessing",
 "single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}},{"SpecialToken":{"id":"<s>","type_id":0}}],
 "pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":0}}],
 "special_tokens":{"<s>":{"id":"<s>","ids":[0],"tokens":["<s>"]},"</s>":{"id":"</s>","ids":[1],"tokens":["</s>"]}}},
"decoder":null,
"model":{"type":"Unigram","unk_id":2,"byte_fallback":false,
 "vocab":[["<s>",0.0],["</s>",0.0],["<unk>",0.0],["▁",-2.0],["▁a",-1.0],["b",-1.5],["fi",-1.0],["f",-3.0],["i",-3.0]]}})";

/// Byte-level BPE with the processor of RoBERTa.
inline const std::string kByteLevel = R"({
"version":"1.0","truncation":null,"padding":null,
"added_tokens":[
 {"id":0,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
 {"id":1,"content":"</s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
"normalizer":null,
"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},
"post_processor":{"type":"RobertaProcessing","sep":["</s>",1],"cls":["<s>",0],"trim_offsets":true,"add_prefix_space":false},
"decoder":null,
"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,
 "fuse_unk":false,"byte_fallback":false,"ignore_merges":false,
 "vocab":{"<s>":0,"</s>":1,"a":2,"b":3,"Ġ":4,"ab":5,"Ġa":6,"Ã":7,"©":8},"merges":[["a","b"],["Ġ","a"]]}})";

}  // namespace capra
