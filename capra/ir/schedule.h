// Hints on the axes along which an op may be computed in parallel: a note of a node, checked
// against the record of its op. A hint never changes a number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/graph.h"

namespace capra {

/// The note that holds hints: `!{schedule = "parallel(heads)"}`.
inline constexpr std::string_view kScheduleNote = "schedule";

/// What the hints on one node say together.
struct Schedule {
  std::vector<std::string> parallel;  ///< in the record's order, each once
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// `parallel(batch, heads)`; nothing for no hint.
std::string schedule_text(const Schedule& schedule);

/// The hints of a text such as `parallel(heads)` for `op`. Fails with `schedule-invalid` for
/// another form, and for a dim that the record of `op` does not allow, with those that it does.
Result<Schedule> parse_schedule(const OpDef& op, std::string_view text, std::string_view at);

/// The hints of all schedule notes of a node together; none where there is no such note. Fails as
/// `parse_schedule` does.
Result<Schedule> schedule_of(const Node& node, std::string_view at);

/// `note` as far as a node of `op` can have it: of hints the dims that the record allows, or
/// nothing; any other note as it is.
std::optional<Note> note_for(const OpDef& op, const Note& note);

}  // namespace capra
