// The stages of compilation, in their order and the same for all roads: tape passes, core passes,
// the target's own passes with legalizing last, and, once a program is written, program passes.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "capra/runtime/target.h"

namespace capra {

/// The graph after the target's tape passes; groups are opened for them. `context.report` grows.
Result<Graph> run_tape_passes(const Target& target, Graph graph, PassContext& context,
                              bool verify_each = false);

/// The graph, legal by the context's table, after the core passes and the target's own.
/// `context.report` grows. Fails with a pass's diagnostic or `op-not-legal`.
Result<Graph> run_graph_passes(const Target& target, const Graph& graph, PassContext& context,
                               const PipelineOptions& options = {});

/// Fails with `program-pass-dialect` where a program pass of the target acts on another dialect
/// than the one that is written; empty: none is.
Status check_program_passes(const Target& target, std::string_view dialect);

/// Those of the target's program passes that are `chosen` on a module of `dialect`. `stage` says
/// how such modules are verified and counted. `context.report` grows. Fails as
/// `check_program_passes` does, with the diagnostic of a pass, of the verifier, or with
/// `passes-unsettled`.
template <class Module>
Result<Module> run_program_passes(const Target& target, std::string_view dialect, Module module,
                                  PassStage<Module, ProgramPass> stage, PassContext& context,
                                  bool verify_each = false,
                                  const ProgramPassChoice& chosen = nullptr) {
  const Target whole = resolved(target);
  CAPRA_TRY(check_program_passes(whole, dialect));
  if (whole.optimizer.program_passes == nullptr) return module;
  std::vector<const ProgramPass*> passes;
  for (const ProgramPass* pass : whole.optimizer.program_passes()) {
    if (!chosen || chosen(*pass)) passes.push_back(pass);
  }
  stage.name = "program";
  stage.list_of = [](const ProgramPass&) { return kProgramPasses; };
  stage.run = [](const ProgramPass& pass, const Module& now, PassContext& known) -> Result<Module> {
    Module next = now;
    CAPRA_TRY(pass.run(&next, known));
    return next;
  };
  return run_to_fixed_point(std::move(module), std::span<const ProgramPass* const>(passes), stage,
                            context, verify_each);
}

}  // namespace capra
