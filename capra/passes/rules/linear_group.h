// What the fusions that start with a linear share.
#pragma once

#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"

namespace capra {

/// Adds a linear of the source to a group: its inputs `x`, `weight` and, where it has one, `bias`,
/// then the op. Returns the body's value.
NodeId add_linear(GroupBuilder& group, const Graph& source, NodeId linear);

/// Adds a layer_norm of the source, on the body's value `x`: its inputs `gamma` and `beta` where it
/// has them, then the op. Returns the body's value.
NodeId add_layer_norm(GroupBuilder& group, const Graph& source, NodeId layer_norm, NodeId x);

}  // namespace capra
