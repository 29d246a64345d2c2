// Matching of names, and the list of what does not fit.
#include "models/weights.h"

#include <set>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

// A list long enough to see what is wrong, short enough to read.
constexpr size_t kListed = 12;

std::string list_text(const std::vector<std::string>& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size() && i < kListed; ++i) text += (i == 0 ? " " : "; ") + lines[i];
  if (lines.size() > kListed) {
    text += "; and " + number_text(lines.size() - kListed) + " more";
  }
  return text;
}

}  // namespace

Result<Weights> load_weights(const Encoder& encoder, const Graph& graph,
                             const Checkpoint& checkpoint) {
  Weights weights;
  std::set<std::string, std::less<>> used;
  std::vector<std::string> problems;
  for (const NodeId id : graph.parameters()) {
    const Node& node = graph.node(id);
    const std::string path = node.attrs_as<ParameterAttrs>().path;
    const std::vector<std::string> names = encoder.checkpoint_names(path);
    const SafetensorsEntry* found = nullptr;
    for (const std::string& name : names) {
      found = checkpoint.find(name);
      if (found != nullptr) break;
    }
    if (found == nullptr) {
      problems.push_back(names.front() + ": missing, needed " + node.type.shape.text());
      continue;
    }
    used.insert(found->name);
    if (const Shape shape(found->sizes); shape != node.type.shape) {
      problems.push_back(found->name + ": is " + shape.text() + ", needed " +
                         node.type.shape.text());
      continue;
    }
    CAPRA_ASSIGN(const Array stored, checkpoint.array(found->name));
    Result<Array> array = widen_to_f32(stored);
    if (!array.ok()) {
      Diagnostic diagnostic = array.error();
      diagnostic.at = checkpoint.path() + ": " + found->name;
      return fail(std::move(diagnostic));
    }
    weights.parameters.emplace(path, *std::move(array));
  }
  if (!problems.empty()) {
    return fail(
        "weights-incomplete",
        "tensors that the config asks for are missing or have another shape:" + list_text(problems),
        checkpoint.path(), "check that config.json and the weights belong together");
  }
  for (const std::string& name : checkpoint.names()) {
    if (used.contains(name)) continue;
    (encoder.is_known_unused(name) ? weights.known_unused : weights.unused).push_back(name);
  }
  weights.used.assign(used.begin(), used.end());
  return weights;
}

}  // namespace capra
