// Reading, joining and handing on hints.
#include "capra/ir/schedule.h"

#include <algorithm>

namespace capra {
namespace {

constexpr std::string_view kParallel = "parallel(";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The names in `parallel(a, b)`, or nothing for a text of another form.
std::optional<std::vector<std::string>> names_in(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with(kParallel) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(kParallel.size(), text.size() - kParallel.size() - 1);
  std::vector<std::string> names;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    names.emplace_back(trimmed(text.substr(0, comma)));
    if (names.back().empty()) return std::nullopt;
    if (comma == text.size()) return names;
    text.remove_prefix(comma + 1);
  }
}

bool allows(const OpDef& op, std::string_view dim) {
  return std::ranges::find(op.parallel_dims, dim) != op.parallel_dims.end();
}

std::string allowed_text(const OpDef& op) {
  std::string text;
  for (const std::string_view dim : op.parallel_dims) {
    text += (text.empty() ? "" : ", ") + std::string(dim);
  }
  return text.empty() ? "it takes no hint" : "it allows " + text;
}

/// Those of `names` that the record allows, in its order.
Schedule allowed_of(const OpDef& op, const std::vector<std::string>& names) {
  Schedule schedule;
  for (const std::string_view dim : op.parallel_dims) {
    if (std::ranges::find(names, dim) != names.end()) schedule.parallel.emplace_back(dim);
  }
  return schedule;
}

const std::string* hint_of(const Note& note) {
  return note.name == kScheduleNote ? std::get_if<std::string>(&note.value) : nullptr;
}

}  // namespace

std::string schedule_text(const Schedule& schedule) {
  std::string text;
  for (const std::string& dim : schedule.parallel) {
    text += (text.empty() ? std::string(kParallel) : ", ") + dim;
  }
  return text.empty() ? text : text + ")";
}

Result<Schedule> parse_schedule(const OpDef& op, std::string_view text, std::string_view at) {
  const std::optional<std::vector<std::string>> names = names_in(text);
  if (!names) {
    return fail("schedule-invalid", "the hint '" + std::string(text) + "' is not understood",
                std::string(at), "write parallel(DIM) or parallel(DIM, DIM)");
  }
  for (const std::string& name : *names) {
    if (allows(op, name)) continue;
    return fail("schedule-invalid",
                std::string(op.name) + " cannot be computed in parallel over '" + name + "'; " +
                    allowed_text(op),
                std::string(at), "name a dim that the op allows, or leave the hint out");
  }
  return allowed_of(op, *names);
}

Result<Schedule> schedule_of(const Node& node, std::string_view at) {
  std::vector<std::string> names;
  for (const Note& note : node.notes) {
    if (note.name != kScheduleNote) continue;
    const std::string* hint = hint_of(note);
    CAPRA_ASSIGN(const Schedule one, parse_schedule(*node.op, hint == nullptr ? "" : *hint, at));
    names.insert(names.end(), one.parallel.begin(), one.parallel.end());
  }
  return allowed_of(*node.op, names);
}

std::optional<Note> note_for(const OpDef& op, const Note& note) {
  const std::string* hint = hint_of(note);
  if (hint == nullptr) return note;
  const std::optional<std::vector<std::string>> names = names_in(*hint);
  if (!names) return std::nullopt;
  const Schedule allowed = allowed_of(op, *names);
  if (allowed.parallel.empty()) return std::nullopt;
  return Note{note.name, schedule_text(allowed)};
}

}  // namespace capra
