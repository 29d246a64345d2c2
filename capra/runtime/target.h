// What a target is: one record that says what it runs, what it adds to compilation, and how a graph
// becomes something executable there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/thread_pool.h"
#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/ir/tape.h"
#include "capra/ops/op_table.h"
#include "capra/passes/pass.h"
#include "capra/passes/pipeline.h"
#include "capra/runtime/executable.h"

namespace capra {

/// A change of the linear record, before there is a graph.
struct TapePass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  NumericEffect effect = NumericEffect::Exact;
  Result<Tape> (*run)(Tape tape, PassContext& context) = nullptr;
};

/// What a target adds to compilation. Each hook may be null: it adds nothing there.
struct TargetOptimizer {
  std::span<const TapePass* const> (*tape_passes)() = nullptr;  ///< run once, in order
  /// Run to a fixed point after the core passes; where the target has a table, they legalize by it.
  PassList (*dag_passes)() = nullptr;
};

/// What a target needs of the machine, and what of that is not here.
struct Availability {
  std::string detail;                ///< what would be used: an instruction set, a device, a tool
  std::vector<std::string> needs;    ///< empty: nothing beyond this library
  std::vector<std::string> missing;  ///< those of `needs` that are absent; empty: ready
};

struct CompileOptions {
  /// False: the graph is only legalized, and runs op by op.
  bool optimize = true;
  /// For work done once, such as packing weights; null: the calling thread alone.
  std::shared_ptr<ThreadPool> pool = nullptr;
  /// Where to write what passes did, or null.
  PassReport* report = nullptr;
};

/// One machine, dialect or vendor tool. Records are constants; their address is their identity.
struct Target {
  std::string_view name;
  std::string_view summary;        ///< one sentence
  const OpTable* table = nullptr;  ///< what it runs natively; null: it takes every op as it is
  TargetOptimizer optimizer = {};
  Availability (*availability)() = nullptr;
  /// An eager sink: calls on its tensors compute at once, with the same kernels.
  Context (*eager)(const Parameters* parameters, std::shared_ptr<ThreadPool> pool) = nullptr;
  /// From a graph that went through the passes.
  Result<std::unique_ptr<Executable>> (*compile)(const Graph& graph, const Parameters& parameters,
                                                 const CompileOptions& options) = nullptr;
};

/// Targets to choose from, sorted by name.
using TargetSet = std::span<const Target* const>;

/// The target called `name`; fails with `target-unknown`, which lists the known ones.
Result<const Target*> find_target(TargetSet targets, std::string_view name);

/// Runs single ops with the target's own kernels, so that constants fold to the bits of running;
/// null for a target that has none. `pool` null: the calling thread alone.
Evaluator eager_evaluator(const Target& target, std::shared_ptr<ThreadPool> pool = nullptr);

/// Runs the passes in the order of the architecture (tape passes, core passes, the target's own)
/// and returns the graph that the target compiles. Fails with a pass's diagnostic or
/// `op-not-legal`.
Result<Graph> optimize(const Target& target, Graph graph, const Parameters& parameters,
                       const CompileOptions& options = {});

/// `optimize`, then the target's compile.
Result<std::unique_ptr<Executable>> compile(const Target& target, Graph graph,
                                            const Parameters& parameters,
                                            const CompileOptions& options = {});

}  // namespace capra
