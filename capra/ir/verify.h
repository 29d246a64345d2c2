// The verifier: what must hold of every graph, checked between passes in tests.
#pragma once

#include "capra/base/result.h"
#include "capra/ir/graph.h"

namespace capra {

/// Operands come before users; counts, attribute kinds and types agree with the records; parameter
/// paths and input and output names are unique; a group has a body whose inputs and single output
/// have the types of its operands and result. Fails with `graph-invalid`, and with
/// `schedule-invalid` for a hint that the op does not allow, `at` the node.
Status verify(const Graph& graph);

/// The same of the graph that a tape is.
Status verify(const Tape& tape);

}  // namespace capra
