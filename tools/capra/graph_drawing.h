// A graph as JSON, as Graphviz text, and as a picture.
#pragma once

#include <string>

#include "capra/io/json.h"
#include "capra/ir/graph.h"

namespace capra::driver {

/// Nodes in order: name, op, operands (by number, null where absent), attributes as text, type,
/// path, notes, and a group's body.
Json graph_json(const Graph& graph);
/// A `digraph` for Graphviz. Parameters and constants are left out; groups are boxes with their
/// body's ops.
std::string graph_dot(const Graph& graph);
/// A layered drawing, inputs on top.
std::string graph_svg(const Graph& graph);

}  // namespace capra::driver
