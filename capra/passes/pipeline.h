// The lists of passes, and running a list to its fixed point.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "capra/base/number_text.h"
#include "capra/passes/pass.h"

namespace capra {

using PassList = std::span<const Pass* const>;

/// Every pass that `capra opt --passes` can name, sorted by name.
PassList all_passes();
/// The pass called `name`, or null.
const Pass* find_pass(std::string_view name);
/// What is done for every target before its own passes; all exact.
PassList core_passes();
/// What the cpu runs: the core passes, legalizing by its table, and its fusions. All are exact;
/// `legalize` decomposes just what the eager sink decomposes too.
PassList cpu_passes();
/// For graphs from outside: recognizes ops spelled in primitives.
PassList raising_passes();

struct PipelineOptions {
  /// Rounds of the whole list; a list that still changes the graph then is a bug. 0: 16, and one
  /// for each node, because a rule that looks at neighbours may need that for a chain.
  int max_rounds = 0;
  bool verify_each = false;  ///< runs the verifier on what comes in and after each pass
  /// Called after each pass that changed the graph.
  std::function<void(const Pass& pass, const Graph& graph)> after_change = nullptr;
  /// Which list a pass belongs to, for reports; null: to the dag passes.
  std::function<std::string_view(const Pass& pass)> list_of = nullptr;
};

/// What the passes of one stage work on: a tape, a graph or a program. Their records have a name
/// and an effect.
template <class Value, class PassRecord>
struct PassStage {
  std::string_view name;  ///< `tape`, `graph` or `program`
  std::string subject;    ///< for reports and diagnostics
  std::function<Result<Value>(const PassRecord& pass, const Value& value, PassContext& context)>
      run;
  std::function<Status(const Value& value)> verify;
  std::function<int64_t(const Value& value)> size;
  std::function<std::string_view(const PassRecord& pass)> list_of;  ///< for reports
  std::function<void(const PassRecord& pass, const Value& value)> after_change = nullptr;
};

/// Runs the list again and again until no pass changes the value, at most `max_rounds` times (0:
/// 16, and one for each part of the value). `context.report` grows. Fails with the diagnostic of a
/// pass, of the verifier, with `passes-unsettled` or with `approximation-unbounded`.
template <class Value, class PassRecord>
Result<Value> run_to_fixed_point(Value value, std::span<const PassRecord* const> passes,
                                 const PassStage<Value, PassRecord>& stage, PassContext& context,
                                 bool verify_each, int max_rounds = 0) {
  if (verify_each) CAPRA_TRY(stage.verify(value));
  if (max_rounds == 0) max_rounds = 16 + static_cast<int>(stage.size(value));
  for (int round = 0; round < max_rounds; ++round) {
    bool changed = false;
    for (const PassRecord* pass : passes) {
      const size_t rewrites = context.report.rewrites.size();
      CAPRA_ASSIGN(Value next, stage.run(*pass, value, context));
      if (next == value) continue;
      changed = true;
      context.report.changes.push_back({.stage = stage.name,
                                        .list = stage.list_of(*pass),
                                        .subject = stage.subject,
                                        .pass = std::string(pass->name),
                                        .effect = pass->effect,
                                        .before = stage.size(value),
                                        .after = stage.size(next)});
      CAPRA_TRY(complete_rewrites(context.report, rewrites, context.report.changes.back()));
      value = std::move(next);
      if (verify_each) {
        if (Status sound = stage.verify(value); !sound.ok()) {
          Diagnostic diagnostic = sound.error();
          diagnostic.message = "after " + std::string(pass->name) + ": " + diagnostic.message;
          diagnostic.internal = true;
          return fail(std::move(diagnostic));
        }
      }
      if (stage.after_change) stage.after_change(*pass, value);
    }
    if (!changed) return value;
  }
  std::string names;
  for (const PassRecord* pass : passes) {
    names += (names.empty() ? "" : ", ") + std::string(pass->name);
  }
  return fail({"passes-unsettled",
               "the passes still changed the " + std::string(stage.name) + " after " +
                   number_text(max_rounds) + " rounds: " + names,
               stage.subject, "", true});
}

/// The same for graphs. Fails with the diagnostic of a pass, of the verifier, or with
/// `passes-unsettled`.
Result<Graph> run_passes(const Graph& graph, PassList passes, PassContext& context,
                         const PipelineOptions& options = {});

}  // namespace capra
