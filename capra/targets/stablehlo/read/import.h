// From a module back to a graph, so that what is written can be computed by whoever runs graphs.
#pragma once

#include <string>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

struct ImportOptions {
  std::string function = {};            ///< empty: the first one
  std::vector<TensorType> inputs = {};  ///< of the arguments, with numbers for their dynamic dims
  /// Composites become the ops that they name rather than their bodies. One whose attributes name
  /// symbols, which the text does not bind, still becomes its body.
  bool whole_composites = false;
  /// Each float that an operation computes is rounded to its dtype, as if the operation itself were
  /// computed without error: the dialect's meaning for an evaluator that keeps more digits. Bits
  /// of floats mean something only then.
  bool round_results = false;
};

/// A function of a module that emit or read_module gave, as a graph of primitives: arguments become
/// inputs, globals parameters by their keys, results the outputs `result0`, `result1`... The graph
/// is static. What the dialect does with bits of f32 becomes what it means: a sign that is copied,
/// and the low bits of a number in [2^23, 2^24) as an exponent. Fails with `op-not-legal` for an
/// operation that no op can say, `op-unknown` for a composite or function that there is not,
/// `symbol-unbound` for a dynamic dim without a number, `type-mismatch` where these numbers do not
/// fit, and with what the ops refuse; `at` names the function and the operation.
Result<Graph> import_module(const Module& module, const ImportOptions& options = {});

}  // namespace capra::stablehlo
