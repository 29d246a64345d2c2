// What a target is: one record that says what it runs, what it adds to compilation, and how a graph
// becomes something executable there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/new_folder.h"
#include "capra/base/thread_pool.h"
#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/ir/tape.h"
#include "capra/ops/op_table.h"
#include "capra/passes/pass.h"
#include "capra/passes/pipeline.h"
#include "capra/runtime/executable.h"
#include "capra/runtime/export.h"

namespace capra {

/// A change of the linear record, before there is a graph. One that finds nothing to do returns
/// what it was given.
struct TapePass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  NumericEffect effect = NumericEffect::Exact;
  Result<Tape> (*run)(Tape tape, PassContext& context) = nullptr;
};

/// A change of a written program, before it is printed.
struct ProgramPass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  NumericEffect effect = NumericEffect::Exact;
  std::string_view dialect;  ///< the target's word for the language it writes
  /// `program` points to the dialect's module; each dialect has a function that makes such records.
  Status (*run)(void* program, PassContext& context) = nullptr;
};

/// What a target adds to compilation. Each hook may be null: the base's, or nothing.
struct TargetOptimizer {
  /// Run to a fixed point on the tape.
  std::span<const TapePass* const> (*tape_passes)() = nullptr;
  /// What is done before the target's own passes; null: `capra::core_passes`. A target whose
  /// programs follow the author's order of nodes has none of those.
  PassList (*core_passes)() = nullptr;
  /// Run to a fixed point on the graph, with the core passes before them; where the target has a
  /// table and `legalize` is not among them it comes last.
  PassList (*dag_passes)() = nullptr;
  /// Run to a fixed point on the program, in the form its dialect has in memory.
  std::span<const ProgramPass* const> (*program_passes)() = nullptr;
  /// What `legalize` leaves whole beside the ops that the table has rows for.
  Granularity (*granularity)() = nullptr;
  /// Options for the compiler of the programs that the target writes, one each.
  std::vector<std::string> (*compile_flags)() = nullptr;
  /// Where data stand in programs when nobody says it; null: in the program.
  ConstantPlacement (*constants)() = nullptr;
};

/// What a target needs of the machine, and what of that is not here.
struct Availability {
  std::string detail;                ///< what would be used: an instruction set, a device, a tool
  std::vector<std::string> needs;    ///< empty: nothing beyond this library
  std::vector<std::string> missing;  ///< those of `needs` that are absent; empty: ready
};

/// Programs of other makers that a target calls.
struct ToolOptions {
  std::string folder = {};  ///< where they are; empty: where the system looks for programs
  double seconds = 600;     ///< each may take
};

struct CompileOptions {
  /// False: the graph is only legalized, by the target's approximations and its table, and runs op
  /// by op.
  bool optimize = true;
  /// For work done once, such as packing weights; null: the calling thread alone.
  std::shared_ptr<ThreadPool> pool = nullptr;
  /// Where to write what passes did, or null.
  PassReport* report = nullptr;
  bool verify_each = false;  ///< runs the verifier after each pass
  /// Of targets that run the programs they write; others refuse what is asked here.
  WriteOptions program = {};
  ToolOptions tools = {};
};

/// One machine, dialect or vendor tool. Records are constants; their address is their identity.
struct Target {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  /// The target that this one is a variant of, or null. Whatever this record leaves null (table,
  /// each hook, availability, eager, compile) is the base's; read such fields through `resolved`.
  const Target* base = nullptr;
  const OpTable* table = nullptr;  ///< what it runs natively; null: it takes every op as it is
  /// What stands in the place of `own`, the target's table, where extensions of the language that
  /// it writes are not to be used (`WriteOptions::without`); null: `own`.
  const OpTable& (*without_extensions)(const OpTable& own,
                                       const std::vector<std::string>& names) = nullptr;
  TargetOptimizer optimizer = {};
  /// Read it by `availability_of`.
  Availability (*availability)(const ToolOptions& tools) = nullptr;
  /// An eager sink: calls on its tensors compute at once, with the same kernels.
  Context (*eager)(const Parameters* parameters, std::shared_ptr<ThreadPool> pool) = nullptr;
  /// From a graph that went through the passes; from the traced graph where there is `write`, which
  /// runs them. The hooks are those of `target`, which is resolved.
  Result<std::unique_ptr<Executable>> (*compile)(const Target& target, const Graph& graph,
                                                 const Parameters& parameters,
                                                 const CompileOptions& options) = nullptr;
  /// Writes a traced graph and the data of its parameters as a program, in files of `folder`. The
  /// hooks are those of `target`, which is resolved; `options.constants` is there, and
  /// `options.flags` are all there are. Call it by `write_program`.
  Result<WrittenProgram> (*write)(const Target& target, const Graph& graph,
                                  const Parameters& parameters, const WriteOptions& options,
                                  NewFolder& folder) = nullptr;
  /// What the program that `write` writes computes, without files; null: nobody knows. The hooks
  /// are those of `target`, which is resolved.
  Result<ReadProgram> (*read_back)(const Target& target, const Graph& graph,
                                   const Parameters& parameters,
                                   const WriteOptions& options) = nullptr;
};

/// Targets to choose from, sorted by name.
using TargetSet = std::span<const Target* const>;

/// The target called `name`; fails with `target-unknown`, which names the nearest and lists the
/// known ones.
Result<const Target*> find_target(TargetSet targets, std::string_view name);

/// `target` with each null field taken from its nearest base that has it. Calls made in an eager
/// context go by the table, so that context is made by `eager_context`, not by the field.
Target resolved(const Target& target);

/// The table by which a target writes or runs programs with these options; null where it has none.
const OpTable* table_of(const Target& target, const WriteOptions& options);

/// The passes that run before the target's own.
PassList core_passes_of(const Target& target);

/// What the target says of this machine, with the programs it calls where `tools` says; ready, in
/// no words, when it says nothing.
Availability availability_of(const Target& target, const ToolOptions& tools = {});

/// An eager context of the target: calls compute at once by its table and granularity, with the
/// kernels of the base that has them. Empty for a target without an eager sink.
Context eager_context(const Target& target, const Parameters* parameters = nullptr,
                      std::shared_ptr<ThreadPool> pool = nullptr);

/// Runs single ops with the target's own kernels, so that constants fold to the bits of running;
/// null for a target that has none. `pool` null: the calling thread alone.
Evaluator eager_evaluator(const Target& target, std::shared_ptr<ThreadPool> pool = nullptr);

/// Runs those tape and dag passes of the target that are approximations, as `optimize` does among
/// the others. Where one graph runs eagerly too they come first, so that both compute the same
/// function. `report`, if given, receives what was recorded.
Result<Graph> approximate_for(const Target& target, Graph graph, PassReport* report = nullptr);

/// What happens to a traced graph on the way to the graph that the target compiles (stages.h).
/// Fails with a pass's diagnostic or `op-not-legal`.
Result<Graph> optimize(const Target& target, Graph graph, const Parameters& parameters,
                       const CompileOptions& options = {});

/// `optimize`, where the target does not write programs, then the target's compile. Fails with
/// `target-not-executable` and, where `options.program` asks for what the target has no use for,
/// with `option-invalid`.
Result<std::unique_ptr<Executable>> compile(const Target& target, Graph graph,
                                            const Parameters& parameters,
                                            const CompileOptions& options = {});

/// Fails with `target-writes-nothing` unless the target, or a base of it, writes programs.
Status check_writes(const Target& target);

/// `flags` and `more`, which stand in the place of those with the same name (up to a `=`).
std::vector<std::string> with_flags(std::vector<std::string> flags,
                                    const std::vector<std::string>& more);

/// Writes a traced graph as a program of the target, in files of `folder`. Fails with
/// `target-writes-nothing`, `option-invalid` for a flag that is not `--name` or `--name=value`, and
/// as the target's `write` does.
Result<WrittenProgram> write_program(const Target& target, const Graph& graph,
                                     const Parameters& parameters, WriteOptions options,
                                     NewFolder& folder);

}  // namespace capra
