// A graph in the form that Google's Model Explorer reads (ai-edge-model-explorer: GraphCollection,
// Graph, GraphNode).
#pragma once

#include <string>
#include <string_view>

#include "capra/io/json.h"
#include "capra/ir/graph.h"

namespace capra::driver {

/// Layers of the model from its path, outermost first, with `/` between them; a number belongs to
/// what it counts: `encoder.layer.0.attention` gives `encoder/layer.0/attention`. A `/` of the path
/// ends a layer as well, and empty parts are left out: `a..b//c/` gives `a/b/c`.
std::string module_layers(std::string_view path);

/// One graph, `{"id", "nodes"}`: of each node its op as `label`, layers of its module as
/// `namespace`, attributes and notes as `attrs`, operands as `incomingEdges` and its type as
/// `outputsMetadata`. The nodes of a group stand in a layer of their own, called by its label and
/// number; a `/` of the label is a `.` there.
Json model_explorer_graph(const Graph& graph);

}  // namespace capra::driver
