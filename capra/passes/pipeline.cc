// The lists: read from top to bottom they are what happens to a graph.
#include "capra/passes/pipeline.h"

#include <algorithm>
#include <string>

#include "capra/base/number_text.h"
#include "capra/ir/verify.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/passes.h"
#include "capra/passes/policy/annotate_schedule.h"
#include "capra/passes/policy/dtype_policy.h"
#include "capra/passes/policy/prepare_parameters.h"
#include "capra/passes/policy/store_weights.h"

namespace capra {
namespace {

constexpr const Pass* kAll[] = {
    &kAnnotateSchedule, &kApplyDTypePolicy,
    &kCanonicalize,     &kCommonSubexpressions,
    &kDeadCode,         &kEliminateTransposes,
    &kFoldConstants,    &kFuseAddLayerNorm,
    &kFuseAttentionQkv, &kFuseEmbeddingLayerNorm,
    &kFuseLinear,       &kFuseLinearActivation,
    &kFuseLinearAdd,    &kFuseLinearAddLayerNorm,
    &kFuseQkv,          &kGeluTanh,
    &kLegalize,         &kPrepareParameters,
    &kRaiseAttention,   &kRaiseGelu,
    &kRaiseLayerNorm,   &kRaiseNarrow,
    &kRaiseSoftmax,     &kStoreWeightsKn,
    &kStoreWeightsNk,   &kWidenDtypes,
};

constexpr const Pass* kCore[] = {
    &kCanonicalize,          //
    &kFoldConstants,         //
    &kCommonSubexpressions,  //
    &kEliminateTransposes,   //
    &kDeadCode,
};

// A wider fusion stands before those it contains.
constexpr const Pass* kCpu[] = {
    &kCanonicalize,
    &kFoldConstants,
    &kCommonSubexpressions,
    &kEliminateTransposes,
    &kDeadCode,
    &kLegalize,
    &kFuseLinear,
    &kFuseQkv,
    &kFuseAttentionQkv,
    &kFuseEmbeddingLayerNorm,
    &kFuseLinearActivation,
    &kFuseLinearAddLayerNorm,
    &kFuseAddLayerNorm,
    &kFuseLinearAdd,
};

// Attention is spelled with a softmax; what is left between recognized ops is tidied up.
constexpr const Pass* kRaising[] = {
    &kCanonicalize,    //
    &kFoldConstants,   //
    &kRaiseGelu,       //
    &kRaiseSoftmax,    //
    &kRaiseLayerNorm,  //
    &kRaiseAttention,  //
    &kRaiseNarrow,     //
    &kDeadCode,
};

}  // namespace

PassList all_passes() { return kAll; }
PassList core_passes() { return kCore; }
PassList cpu_passes() { return kCpu; }
PassList raising_passes() { return kRaising; }

const Pass* find_pass(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kAll, [&](const Pass* pass) { return pass->name == name; });
  return found == std::end(kAll) ? nullptr : *found;
}

Result<Graph> run_passes(const Graph& graph, PassList passes, PassContext& context,
                         const PipelineOptions& options) {
  if (options.verify_each) CAPRA_TRY(verify(graph));
  Graph current = graph;
  const int rounds =
      options.max_rounds > 0 ? options.max_rounds : 16 + static_cast<int>(graph.size());
  for (int round = 0; round < rounds; ++round) {
    bool changed = false;
    for (const Pass* pass : passes) {
      CAPRA_ASSIGN(Graph next, pass->run(current, context));
      if (next == current) continue;
      changed = true;
      current = std::move(next);
      if (options.verify_each) {
        if (Status sound = verify(current); !sound.ok()) {
          Diagnostic diagnostic = sound.error();
          diagnostic.message = "after " + std::string(pass->name) + ": " + diagnostic.message;
          diagnostic.internal = true;
          return fail(std::move(diagnostic));
        }
      }
      if (options.after_change) options.after_change(*pass, current);
    }
    if (!changed) return current;
  }
  std::string names;
  for (const Pass* pass : passes) names += (names.empty() ? "" : ", ") + std::string(pass->name);
  return fail({"passes-unsettled",
               "the passes still changed the graph after " + number_text(int64_t{rounds}) +
                   " rounds: " + names,
               graph.name(), "", true});
}

}  // namespace capra
