// Schedule hints for the ops of a graph: those that its author wrote are checked, others come by
// op.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capra/ir/schedule.h"
#include "capra/passes/pass.h"

namespace capra {

/// What nodes of an op get that have no hint of their own.
struct ScheduleDefault {
  const OpDef* op = nullptr;
  Schedule schedule;
};

/// Defaults written as `attention=heads` or `attention=batch+heads`. Fails with `op-unknown`,
/// `schedule-invalid`, and `option-invalid` for another form or an op that is named twice.
Result<std::vector<ScheduleDefault>> parse_schedule_defaults(std::span<const std::string> texts,
                                                             OpSet ops);

/// A pass that checks the hints on nodes, writes them as one note a node, and gives `defaults` to
/// nodes without any. It fails with `schedule-invalid`.
Pass annotate_schedule(std::vector<ScheduleDefault> defaults);

/// The same without defaults.
extern const Pass kAnnotateSchedule;

/// Whether the pass came from `annotate_schedule`: its name is that very text, not one alike.
bool is_annotate_schedule(const Pass& pass);

}  // namespace capra
