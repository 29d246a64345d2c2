// The lists: read from top to bottom they are what happens to a graph.
#include "capra/passes/pipeline.h"

#include <algorithm>

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
  const PassStage<Graph, Pass> stage{
      .name = "graph",
      .subject = graph.name(),
      .run = [](const Pass& pass, const Graph& now,
                PassContext& known) { return pass.run(now, known); },
      .verify = [](const Graph& now) { return verify(now); },
      .size = [](const Graph& now) { return int64_t{now.size()}; },
      .list_of =
          [&](const Pass& pass) { return options.list_of ? options.list_of(pass) : kDagPasses; },
      .after_change = options.after_change};
  return run_to_fixed_point(graph, passes, stage, context, options.verify_each, options.max_rounds);
}

}  // namespace capra
