// Every diagnostic code with its one line, sorted. A test compares this list with the codes in use.
#include <algorithm>

#include "capra/base/diagnostic.h"

namespace capra {
namespace {

constexpr DiagnosticCode kCodes[] = {
    {"attribute-invalid", "an attribute has a value the op cannot take"},
    {"attribute-unknown", "the op has no attribute of this name"},
    {"check-failed", "an invariant inside capra does not hold; this is a bug to report"},
    {"checkpoint-index", "a shard index does not list tensors and their files"},
    {"checkpoint-shard-mismatch", "a shard index and its shards disagree about a tensor"},
    {"checkpoint-shard-missing", "a file that a shard index names is not there"},
    {"checkpoint-shard-name", "a shard index names a file outside its folder"},
    {"config-missing", "a model folder has no config.json"},
    {"config-missing-key", "a configuration file lacks a key that is needed"},
    {"config-not-object", "a configuration file is not a JSON object"},
    {"config-out-of-range", "a value in a configuration file is outside its range"},
    {"config-wrong-type", "a value in a configuration file has another type than it needs"},
    {"context-mixed", "one call was given tensors of two contexts"},
    {"dense-activation-unknown", "a Dense module names an activation function that is not known"},
    {"dense-shape", "a Dense module does not fit the vector it is given"},
    {"file-not-found", "a file that is needed does not exist"},
    {"file-unreadable", "a file exists but cannot be opened, mapped or read"},
    {"file-unwritable", "a file cannot be written; nothing is left half written"},
    {"graph-invalid", "a graph breaks a rule that every graph obeys"},
    {"group-has-no-rule", "a group was built without its body"},
    {"index-out-of-range", "an index lies outside the axis it picks from"},
    {"input-count", "a run was given too few or too many inputs"},
    {"input-type", "a run was given an input of another dtype or shape than the graph declares"},
    {"json-duplicate-key", "a JSON object has one key twice"},
    {"json-syntax", "a text is not JSON"},
    {"json-too-deep", "a JSON text is nested too deeply"},
    {"key-lengths-invalid", "key lengths are negative, or not one a sequence"},
    {"module-option-unsupported",
     "a sentence-transformers module has a setting that is not supported"},
    {"module-order",
     "sentence-transformers modules stand in an order that gives no sentence vector"},
    {"module-unknown", "modules.json names a module type that is not known"},
    {"modules-invalid", "modules.json is not a list of modules inside the folder"},
    {"offsets-invalid",
     "offsets of packed sequences do not start at 0, fall, or miss the number of tokens"},
    {"op-not-legal", "a target runs neither an op nor what the op decomposes into"},
    {"op-unknown", "graph text names an op that does not exist"},
    {"operand-count", "an op was given too few or too many operands"},
    {"operand-dtype", "an operand has a dtype that the op cannot take"},
    {"operand-shape", "operand shapes do not fit together or do not fit the op"},
    {"output-count", "a run was given too few or too many outputs"},
    {"output-size", "a run was given an output buffer of another dtype or size"},
    {"parameter-missing", "the graph has a parameter that no data was given for"},
    {"parameter-type", "one parameter path is used with two types"},
    {"pass-needs-table", "a pass needs a target's table of ops and was given none"},
    {"passes-unsettled", "a list of passes kept changing the graph; this is a bug to report"},
    {"pooling-unknown", "a pooling is named that is not known"},
    {"rank-unsupported", "a tensor has more dims than can be executed"},
    {"reshape-elements", "a reshape does not keep the number of elements with these inputs"},
    {"safetensors-bool", "a boolean tensor holds a byte that is neither 0 nor 1"},
    {"safetensors-dtype", "a safetensors file has a dtype that is not supported"},
    {"safetensors-header", "the header of a safetensors file breaks the format"},
    {"safetensors-layout", "the data of a safetensors file has a hole or an overlap"},
    {"safetensors-metadata", "the metadata of a safetensors file are not strings"},
    {"safetensors-shape", "a shape in a safetensors file is negative or too large"},
    {"safetensors-size",
     "a tensor in a safetensors file has more or fewer bytes than its shape needs"},
    {"safetensors-truncated", "a safetensors file is cut off"},
    {"shape-too-large", "a tensor type has more bytes than can be counted or made"},
    {"slice-out-of-range", "a slice ends beyond its operand with these inputs"},
    {"symbol-conflict", "two inputs give one symbolic dim different values"},
    {"symbol-unbound", "a symbolic dim has no value in this run"},
    {"symbolic-dim", "a shape would need arithmetic on a dim that is known only at run time"},
    {"target-not-executable", "the target writes programs and does not run them"},
    {"target-unknown", "there is no target of this name"},
    {"tensor-has-no-data", "a traced tensor was asked for numbers"},
    {"tensor-missing", "a checkpoint has no tensor of this name"},
    {"text-syntax", "graph text does not follow the grammar"},
    {"token-limit-too-small", "the token limit leaves no room beside the special tokens"},
    {"tokenizer-failed", "the tokenizer cannot encode this text"},
    {"tokenizer-invalid", "tokenizer.json is not one that can be loaded"},
    {"tokenizer-missing", "a model folder has no tokenizer.json"},
    {"tokenizer-no-pre-tokenizer",
     "a WordPiece tokenizer has nothing that splits text into words first"},
    {"tokenizer-not-built", "this build has no tokenizer; it takes token ids only"},
    {"tokenizer-random", "a tokenizer draws its tokens by chance"},
    {"too-many-tokens", "a text has more tokens than the limit, and cutting was not allowed"},
    {"type-mismatch", "a type written in text differs from the inferred one"},
    {"utf8-invalid", "a text is not UTF-8, and replacing was not allowed"},
    {"weights-dtype", "weights have a dtype that cannot be used as f32 without loss"},
    {"weights-missing", "a model folder has no weights"},
    {"weights-pickled", "a model folder has weights only as PyTorch pickles"},
};

}  // namespace

std::span<const DiagnosticCode> diagnostic_codes() { return kCodes; }

const DiagnosticCode* find_diagnostic_code(std::string_view code) {
  const auto* found = std::ranges::lower_bound(kCodes, code, {}, &DiagnosticCode::code);
  return found != std::end(kCodes) && found->code == code ? found : nullptr;
}

}  // namespace capra
