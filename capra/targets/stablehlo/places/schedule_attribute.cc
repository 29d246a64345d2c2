// The hints of nodes that share label and op are joined.
#include "capra/targets/stablehlo/places/schedule_attribute.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "capra/ir/schedule.h"
#include "capra/passes/pass.h"

namespace capra::stablehlo {
namespace {

struct Hint {
  std::string label;
  const OpDef* op;
  Node joined;  ///< holds the notes of all nodes with this label and op
};

void collect_hints(const Graph& graph, std::vector<Hint>& hints) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.body != nullptr) collect_hints(*node.body, hints);
    const std::string label = node_label(graph, id);
    for (const Note& note : node.notes) {
      if (note.name != kScheduleNote) continue;
      auto found = std::ranges::find_if(
          hints, [&](const Hint& one) { return one.label == label && one.op == node.op; });
      if (found == hints.end()) {
        hints.push_back({label, node.op, {.op = node.op, .operands = {}, .attrs = {}, .type = {}}});
        found = std::prev(hints.end());
      }
      found->joined.notes.push_back(note);
    }
  }
}

}  // namespace

Result<Dictionary> schedule_attribute(const Graph& graph) {
  std::vector<Hint> hints;
  collect_hints(graph, hints);
  Dictionary labels;
  for (const Hint& hint : hints) {
    CAPRA_ASSIGN(const Schedule schedule, schedule_of(hint.joined, hint.label));
    auto entry = std::ranges::find(labels, hint.label, &NamedAttribute::name);
    if (entry == labels.end()) {
      labels.push_back({hint.label, Dictionary()});
      entry = std::prev(labels.end());
    }
    std::get<Dictionary>(entry->value)
        .push_back({std::string(hint.op->name), schedule_text(schedule)});
  }
  return labels;
}

}  // namespace capra::stablehlo
