// One pass a policy that was given.
#include "tools/capra/policies.h"

#include <utility>

#include "capra/ops/all_ops.h"
#include "capra/passes/pipeline.h"
#include "capra/passes/policy/annotate_schedule.h"
#include "capra/passes/policy/dtype_policy.h"

namespace capra::driver {

Result<Graph> apply_policies(Graph graph, const PolicyOptions& options, std::string_view target,
                             PassReport& report) {
  CAPRA_ASSIGN(DTypePolicy dtypes, parse_dtype_policy(options.dtype_policy, all_ops()));
  CAPRA_ASSIGN(std::vector<ScheduleDefault> hints,
               parse_schedule_defaults(options.schedule, all_ops()));
  const Pass dtype_pass = apply_dtype_policy(std::move(dtypes), "asked for by --dtype-policy ");
  const Pass schedule_pass = annotate_schedule(std::move(hints));
  const Pass* const passes[] = {&dtype_pass, &schedule_pass};
  PassContext context{.target = target, .report = std::move(report)};
  const PipelineOptions pipeline{.list_of = [](const Pass&) { return kAskedFor; }};
  CAPRA_ASSIGN(graph, run_passes(graph, passes, context, pipeline));
  report = std::move(context.report);
  return graph;
}

}  // namespace capra::driver
