// From a graph to a StableHLO module: one function, and one private body for each kept op.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/passes/pass.h"
#include "capra/runtime/export.h"
#include "capra/targets/stablehlo/module.h"
#include "capra/targets/stablehlo/target.h"

namespace capra::stablehlo {

struct EmitOptions {
  /// `stablehlo`, or a target that derives from it: its passes run, its granularity is kept, and an
  /// op is written by this target's own row where the target's table takes the call.
  const Target* target = &kTarget;
  /// Names of more ops that survive as `stablehlo.composite`, under the name and version of their
  /// record
  /// (`capra.<op>`, version 1, where it has none).
  std::vector<std::string> keep_fused = {};
  /// Parameters of at least so many bytes stand in an archive; none: all data stand in the module.
  std::optional<int64_t> external_from = {};
  /// The name under which the runtime is given the archive.
  std::string scope = "model";
  /// False: no operation of chlo is written; erf becomes the project's own sequence.
  bool chlo = true;
  /// Where to write what passes did, or null.
  PassReport* report = nullptr;
  /// Where to write the approximations in force in what is written, or null.
  std::vector<Approximation>* approximations = nullptr;
  /// Where to write which nodes survive as composites, or null.
  std::vector<KeptOp>* kept = nullptr;
  /// Where to write which ops rows of the table write and how often, or null; sorted by name.
  std::vector<ComputedOp>* computed = nullptr;
  bool verify_each = false;  ///< runs the verifiers after each pass
  ProgramPassChoice program_passes = nullptr;
};

/// The graph as a module whose function has the graph's name, its inputs and its outputs in order.
/// Symbolic dims become dynamic ones. Each kept op has one private function for each combination of
/// attributes and types: its decomposition, written as it would stand inline. Data are read only of
/// parameters that stand in the module. Fails with `op-not-legal`, `op-unknown`, `option-invalid`
/// for an op that cannot be kept, `program-pass-dialect`, `parameter-missing`, `parameter-type`,
/// `symbol-unbound`.
Result<Module> emit(const Graph& graph, const Parameters& parameters,
                    const EmitOptions& options = {});

}  // namespace capra::stablehlo
