// One node after the other; weights take their numbers from constants and parameters.
#include "capra/targets/ga2/lower/lower.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/constant.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/passes.h"
#include "capra/targets/ga2/lower/ops.h"

namespace capra::ga2 {
namespace {

Failure refuse(std::string message, std::string help) {
  return fail("network-invalid", std::move(message), {}, std::move(help));
}

bool is_weight(const Node& node) { return node.op == &kParameter || node.op == &kConstant; }

class Lowering {
 public:
  Lowering(Graph graph, const Parameters& parameters) : parameters_(parameters) {
    lowered_.graph = std::move(graph);
  }

  Result<Lowered> run() {
    name_weights();
    for (NodeId id = 0; id < graph().size(); ++id) {
      Result<NodeIndex> index = add(id);
      if (!index.ok()) {
        Diagnostic diagnostic = index.error();
        if (diagnostic.at.empty()) diagnostic.at = node_label(graph(), id);
        return fail(std::move(diagnostic));
      }
      indices_.push_back(*index);
      lowered_.origins.resize(lowered_.network.nodes().size(), id);
    }
    return std::move(lowered_);
  }

 private:
  const Graph& graph() const { return lowered_.graph; }
  Network& network() { return lowered_.network; }

  // Inputs, outputs and parameters have names; a constant has that of its value in text, or one
  // made of its number, and steps aside where that is taken.
  void name_weights() {
    std::set<std::string> taken;
    for (const Node& node : graph().nodes()) {
      if (node.op == &kInput) taken.insert(node.attrs_as<InputAttrs>().name);
      if (node.op == &kOutput) taken.insert(node.attrs_as<OutputAttrs>().name);
      if (node.op == &kParameter) taken.insert(node.attrs_as<ParameterAttrs>().path);
    }
    names_.resize(graph().nodes().size());
    for (NodeId id = 0; id < graph().size(); ++id) {
      const Node& node = graph().node(id);
      std::string& name = names_[static_cast<size_t>(id)];
      if (node.op == &kParameter) name = node.attrs_as<ParameterAttrs>().path;
      if (node.op != &kConstant) continue;
      name = node.name.empty() ? "constant" + number_text(id) : node.name;
      while (!taken.insert(name).second) name += '_';
    }
  }

  Result<NodeIndex> add(NodeId id) {
    const Node& node = graph().node(id);
    CAPRA_ASSIGN(const NodeIndex index, append(id, node));
    if (const Note* tag = find_note(node, kTagNote)) {
      const auto* name = std::get_if<std::string>(&tag->value);
      if (name == nullptr || name->empty()) {
        return refuse("the note tag is no name", "write tag = \"scores\"");
      }
      network().tag(index, *name);
    }
    return index;
  }

  Result<NodeIndex> append(NodeId id, const Node& node) {
    if (is_weight(node)) return add_weight(id, node);
    if (find_note(node, kBitsNote) != nullptr) {
      return refuse("the note bits stands on " + std::string(node.op->name),
                    "4 bits are a form of weights: put the note on a parameter or constant");
    }
    if (node.op == &kInput) {
      const Shape& shape = node.type.shape;
      return network().input(node.attrs_as<InputAttrs>().name, {shape[0].size(), shape[1].size()});
    }
    std::vector<NodeIndex> operands;
    operands.reserve(node.operands.size());
    for (const NodeId operand : node.operands) {
      operands.push_back(indices_[static_cast<size_t>(operand)]);
    }
    if (node.op == &kOutput) {
      return network().output(operands[0], node.attrs_as<OutputAttrs>().name);
    }
    const OpRow* row =
        kOpTable.find(*node.op, operand_types(graph(), node.operands), node.attrs, node.type);
    CAPRA_CHECK(row != nullptr);
    return static_cast<const Ga2Row*>(row)->lower(network(), {operands, node.attrs, node.type});
  }

  Result<NodeIndex> add_weight(NodeId id, const Node& node) {
    int64_t bits = 8;
    if (const Note* note = find_note(node, kBitsNote)) {
      const auto* value = std::get_if<int64_t>(&note->value);
      // Whatever is no small integer is no number of bits.
      bits = value != nullptr && *value >= 0 && *value <= 64 ? *value : 0;
    }
    CAPRA_ASSIGN(const Array data, weight_data(node));
    if (data.elements() > kMostElements) {
      return refuse("a weight of " + node.type.text(),
                    "no tensor of so many elements fits the chip");
    }
    Matrix<double> values(data.sizes()[0], data.sizes()[1]);
    for (int64_t i = 0; i < data.elements(); ++i) {
      values.values[static_cast<size_t>(i)] = data.f64_at(i);
    }
    return network().weight(names_[static_cast<size_t>(id)], std::move(values),
                            static_cast<int>(bits));
  }

  Result<Array> weight_data(const Node& node) const {
    if (node.op == &kConstant) return node.attrs_as<ConstantAttrs>().value;
    const std::string path = node.attrs_as<ParameterAttrs>().path;
    const auto found = parameters_.find(path);
    if (found == parameters_.end()) {
      return fail("parameter-missing", "there is no data for a parameter of the graph", path,
                  "the program holds its weights: give their data");
    }
    if (found->second.type() == node.type) return found->second;
    return fail(
        "parameter-type",
        "the data are " + found->second.type().text() + ", the graph needs " + node.type.text(),
        path);
  }

  const Parameters& parameters_;
  Lowered lowered_;
  std::vector<std::string> names_;  // of weights, by node of the graph
  std::vector<NodeIndex> indices_;  // by node of the graph
};

}  // namespace

Result<Lowered> lower(const Graph& graph, const Parameters& parameters, std::string_view target) {
  CAPRA_TRY(check_calls(graph, target));
  PassContext context{.table = &kOpTable, .target = target};
  CAPRA_ASSIGN(Graph legal, kLegalize.run(graph, context));
  legal = inline_groups(std::move(legal), [](const Graph&, NodeId) { return true; });
  return Lowering(std::move(legal), parameters).run();
}

}  // namespace capra::ga2
