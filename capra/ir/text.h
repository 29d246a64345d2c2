// Graph text: the canonical printer and the parser. Printing, parsing and printing again gives the
// same text. The grammar is in docs/ir.md.
#pragma once

#include <string>
#include <string_view>

#include "capra/base/result.h"
#include "capra/ir/graph.h"

namespace capra {

// clang-format off
/// One graph:
///   graph @name {
///     %x = input {name = "x"} : f32[tokens, 4]
///     %1 = gelu %x {approximate = false} : f32[tokens, 4] @ "encoder" !{legalizedFrom = "gelu"}
///     output %1 {name = "y"}
///   }
// clang-format on
std::string print_graph(const Graph& graph);
/// The linear record, in the same syntax under `tape @name`.
std::string print_tape(const Tape& tape);
/// One node's line without indentation, for diagnostics.
std::string print_node(const Graph& graph, NodeId id);

std::string print_attr(const AttrValue& value);
/// `f32[2, 2] [[1, 2], [3, 4]]`; a scalar is `f32 0.5`; more than 16 equal elements are
/// `f32[8, 8] splat 0.5`.
std::string print_array(const Array& array);

/// Parses one graph; names are those of `ops` and the structural ops. Fails with `text-syntax`,
/// `op-unknown`, `attribute-unknown`, `type-mismatch`... `at` is `source:line:column`.
Result<Graph> parse_graph(std::string_view text, OpSet ops, std::string_view source = "text");
Result<Array> parse_array(std::string_view text);
/// `axis = 1, keep_dims = true`, as the values of a schema; what is not named has its default.
Result<Attrs> parse_attrs(std::string_view text, const AttrSchema& schema);

}  // namespace capra
