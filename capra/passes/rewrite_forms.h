// How a rewrite says what a node was and what stands there now: `relu -> maximum`.
#pragma once

#include <string>
#include <string_view>

#include "capra/ir/graph.h"
#include "capra/passes/pass.h"

namespace capra {

/// `gelu(approximate=false)`: what a node computes; `group qkv`; of nodes that stand for data, and
/// of attributes that are data, the name alone.
std::string form_text(const Node& node);

/// The note of a rewrite from one form to another.
std::string forms_note(std::string_view before, std::string_view after);

/// The two forms of a note; `after` is empty where the note is no such text.
struct RewriteForms {
  std::string_view before;
  std::string_view after;
};
RewriteForms forms_of(const Rewrite& rewrite);

}  // namespace capra
