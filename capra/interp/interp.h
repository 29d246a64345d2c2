// The oracle: any graph in double precision, from the records' definitions, slowly and to be read.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "capra/base/thread_pool.h"
#include "capra/ir/graph.h"
#include "capra/ir/op_def.h"
#include "capra/ir/parameters.h"

namespace capra {

/// An eager context in which every float tensor is held as f64 and every other one in its own
/// dtype. Primitives compute in double precision (integers exactly, wrapping to their dtype); ops
/// with a decomposition are decomposed, so their constants are exact. `convert`, `constant` and
/// `iota` to a narrower float round to its values, and stay f64. Calls throw `Error`. `parameters`
/// must outlive the context and may be null; `pool` null: one of its own. The number of threads
/// never changes a result.
Context interp_context(const Parameters* parameters = nullptr,
                       std::shared_ptr<ThreadPool> pool = nullptr);

/// `array` as the oracle holds it: floats widened to f64, which is exact.
Array interp_array(const Array& array);

/// The outputs of `graph`, floats as f64. `inputs` in the order of graph.inputs(); a float input
/// may be f64 whatever the graph declares. Fails with `input-count`, `input-type`,
/// `symbol-conflict`, `parameter-missing`, and with what the ops refuse.
Result<std::vector<Array>> interpret(const Graph& graph, std::span<const Array> inputs,
                                     const Parameters& parameters,
                                     std::shared_ptr<ThreadPool> pool = nullptr);

/// The records whose meaning the oracle holds itself, sorted by name: those of the op list that
/// have no decomposition.
OpSet interp_primitives();

}  // namespace capra
