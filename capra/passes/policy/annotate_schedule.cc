// Hints, checked and completed; nodes are otherwise left as they are.
#include "capra/passes/policy/annotate_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "capra/passes/graph_rewriter.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

// An object of its own, so that no other text has its address.
constexpr char kNameText[] = "annotate-schedule";
constexpr std::string_view kName = kNameText;
constexpr std::string_view kOption = "--schedule";

const Schedule* default_of(const OpDef& op, std::span<const ScheduleDefault> defaults) {
  const auto found = std::ranges::find(defaults, &op, &ScheduleDefault::op);
  return found == defaults.end() ? nullptr : &found->schedule;
}

/// The notes of a node with one schedule note for all that are there.
std::vector<Note> joined(const std::vector<Note>& notes, const Schedule& schedule) {
  std::vector<Note> kept;
  for (const Note& note : notes) {
    if (note.name != kScheduleNote) {
      kept.push_back(note);
    } else if (std::ranges::find(kept, kScheduleNote, &Note::name) == kept.end()) {
      kept.push_back({note.name, schedule_text(schedule)});
    }
  }
  return kept;
}

Result<Graph> annotated(const Graph& graph, std::span<const ScheduleDefault> defaults,
                        PassContext& context) {
  Graph result = graph;
  for (NodeId id = 0; id < result.size(); ++id) {
    Node& node = result.node(id);
    if (node.body != nullptr) {
      CAPRA_ASSIGN(Graph body, annotated(*node.body, defaults, context));
      if (!(body == *node.body)) node.body = std::make_shared<const Graph>(std::move(body));
    }
    const std::string label = node_label(graph, id);
    CAPRA_ASSIGN(const Schedule own, schedule_of(node, label));
    if (!own.parallel.empty()) {
      node.notes = joined(node.notes, own);
      continue;
    }
    const Schedule* given = default_of(*node.op, defaults);
    if (given == nullptr) continue;
    const std::string text = schedule_text(*given);
    node.notes.push_back({std::string(kScheduleNote), text});
    const std::string form = form_text(node);
    context.report.rewrites.push_back({std::string(kName), "default-hint", label,
                                       forms_note(form, fmt::format("{} by {}", form, text))});
  }
  return result;
}

}  // namespace

Result<std::vector<ScheduleDefault>> parse_schedule_defaults(std::span<const std::string> texts,
                                                             OpSet ops) {
  std::vector<ScheduleDefault> defaults;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return fail("option-invalid", "'" + text + "' names no dim", std::string(kOption),
                  "write OP=DIM, or OP=DIM+DIM");
    }
    const std::string name = text.substr(0, equals);
    const OpDef* op = find_op(ops, name);
    if (op == nullptr) {
      return fail("op-unknown", "there is no op called '" + name + "'", std::string(kOption),
                  "'capra ops' lists them");
    }
    if (default_of(*op, defaults) != nullptr) {
      return fail("option-invalid", name + " is named twice", std::string(kOption),
                  "join its dims: " + name + "=DIM+DIM");
    }
    std::string hint = "parallel(" + text.substr(equals + 1) + ")";
    std::ranges::replace(hint, '+', ',');
    CAPRA_ASSIGN(Schedule schedule, parse_schedule(*op, hint, kOption));
    defaults.push_back({op, std::move(schedule)});
  }
  return defaults;
}

Pass annotate_schedule(std::vector<ScheduleDefault> defaults) {
  return {kName,
          "Checks the schedule hints of nodes against the records of their ops, and gives defaults "
          "to nodes without any.",
          NumericEffect::Exact,
          [defaults = std::move(defaults)](const Graph& graph, PassContext& context) {
            return annotated(graph, defaults, context);
          }};
}

const Pass kAnnotateSchedule = annotate_schedule({});

bool is_annotate_schedule(const Pass& pass) { return pass.name.data() == kName.data(); }

}  // namespace capra
