// Every diagnostic code with its one line, sorted. A test compares this list with the codes in use.
#include <algorithm>

#include "capra/base/diagnostic.h"

namespace capra {
namespace {

constexpr DiagnosticCode kCodes[] = {
    {"attribute-invalid", "an attribute has a value the op cannot take"},
    {"attribute-unknown", "the op has no attribute of this name"},
    {"check-failed", "an invariant inside capra does not hold; this is a bug to report"},
    {"context-mixed", "one call was given tensors of two contexts"},
    {"file-not-found", "a file that is needed does not exist"},
    {"file-unreadable", "a file exists but cannot be opened, mapped or read"},
    {"file-unwritable", "a file cannot be written; nothing is left half written"},
    {"graph-invalid", "a graph breaks a rule that every graph obeys"},
    {"group-has-no-rule", "a group was built without its body"},
    {"op-unknown", "graph text names an op that does not exist"},
    {"operand-count", "an op was given too few or too many operands"},
    {"operand-dtype", "an operand has a dtype that the op cannot take"},
    {"operand-shape", "operand shapes do not fit together or do not fit the op"},
    {"parameter-type", "one parameter path is used with two types"},
    {"shape-too-large", "a tensor type has more bytes than can be counted or made"},
    {"symbol-unbound", "a symbolic dim has no value in this run"},
    {"symbolic-dim", "a shape would need arithmetic on a dim that is known only at run time"},
    {"tensor-has-no-data", "a traced tensor was asked for numbers"},
    {"text-syntax", "graph text does not follow the grammar"},
    {"type-mismatch", "a type written in text differs from the inferred one"},
};

}  // namespace

std::span<const DiagnosticCode> diagnostic_codes() { return kCodes; }

const DiagnosticCode* find_diagnostic_code(std::string_view code) {
  const auto* found = std::ranges::lower_bound(kCodes, code, {}, &DiagnosticCode::code);
  return found != std::end(kCodes) && found->code == code ? found : nullptr;
}

}  // namespace capra
