// Building, reading and replaying graphs.
#include "capra/ir/graph.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

std::vector<NodeId> nodes_of(const Graph& graph, const OpDef& op) {
  std::vector<NodeId> ids;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).op == &op) ids.push_back(id);
  }
  return ids;
}

template <class A>
NodeId find_named(const Graph& graph, const OpDef& op, std::string_view name) {
  for (const NodeId id : nodes_of(graph, op)) {
    if (graph.node(id).attrs_as<A>().name == name) return id;
  }
  return kAbsent;
}

bool equal_nodes(const Node& a, const Node& b) {
  if (a.op != b.op || a.operands != b.operands || a.type != b.type || a.name != b.name ||
      a.path != b.path || a.notes != b.notes || !attrs_equal(a.attrs, b.attrs)) {
    return false;
  }
  if ((a.body == nullptr) != (b.body == nullptr)) return false;
  return a.body == nullptr || *a.body == *b.body;
}

// The dims that the symbols of a graph stand for: numbers, or other symbols when a trace is
// replayed.
using SymbolDims = std::map<std::string, Dim, std::less<>>;

/// One run of a graph's nodes on a sink. A value is let go after its last use.
class Replay {
 public:
  Replay(const Graph& graph, const Context& context, SymbolDims symbols)
      : graph_(graph),
        context_(context),
        symbols_(std::move(symbols)),
        values_(graph.nodes().size()),
        uses_left_(graph.nodes().size()) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs) {
    bind(inputs);
    for (const Node& node : graph_.nodes()) {
      for (const NodeId operand : node.operands) {
        if (operand != kAbsent) ++uses_left_[static_cast<size_t>(operand)];
      }
    }
    std::vector<Tensor> outputs;
    size_t next_input = 0;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_.node(id);
      const std::vector<Tensor> operands = take_operands(node);
      Tensor& value = values_[static_cast<size_t>(id)];
      if (node.op == &kInput) {
        value = inputs[next_input++];
      } else if (node.op == &kParameter) {
        value =
            context_.sink().parameter(context_, node.attrs_as<ParameterAttrs>().path, node.type);
      } else if (node.op == &kOutput) {
        outputs.push_back(operands.front());
      } else if (node.op == &kGroup) {
        value = Replay(*node.body, context_, symbols_).run(operands).front();
      } else {
        value = apply(*node.op, operands, bound(node.attrs), context_);
      }
      if (uses_left_[static_cast<size_t>(id)] == 0) value = Tensor();
    }
    return outputs;
  }

 private:
  void bind(std::span<const Tensor> inputs) {
    const std::vector<NodeId> ids = graph_.inputs();
    if (inputs.size() != ids.size()) {
      throw Error({"input-count", "the graph has " + number_text(ids.size()) +
                                      " inputs, the run was given " + number_text(inputs.size())});
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      const Node& node = graph_.node(ids[i]);
      bind(node.type.shape, inputs[i].shape(), node.attrs_as<InputAttrs>().name);
    }
  }

  // The dtype is the sink's matter: an oracle holds every float as f64.
  void bind(const Shape& declared, const Shape& given, const std::string& name) {
    bool fits = declared.rank() == given.rank();
    for (int64_t axis = 0; fits && axis < declared.rank(); ++axis) {
      if (declared[axis].is_static()) {
        fits = declared[axis] == given[axis];
        continue;
      }
      const std::string& symbol = declared[axis].symbol();
      const auto [known, added] = symbols_.emplace(symbol, given[axis]);
      if (known->second != given[axis]) {
        throw Error({"symbol-conflict",
                     symbol + " is " + known->second.text() + " in one input and " +
                         given[axis].text() + " in another",
                     "input '" + name + "'", "give inputs that agree in this extent"});
      }
    }
    if (!fits) {
      throw Error(
          {"input-type",
           "the graph takes shape " + declared.text() + ", the run was given " + given.text(),
           "input '" + name + "'", "give data of the type that the graph declares"});
    }
  }

  std::vector<Tensor> take_operands(const Node& node) {
    std::vector<Tensor> operands;
    operands.reserve(node.operands.size());
    for (const NodeId operand : node.operands) {
      operands.push_back(operand == kAbsent ? Tensor() : values_[static_cast<size_t>(operand)]);
    }
    for (const NodeId operand : node.operands) {
      if (operand == kAbsent) continue;
      if (--uses_left_[static_cast<size_t>(operand)] == 0) {
        values_[static_cast<size_t>(operand)] = Tensor();
      }
    }
    return operands;
  }

  Attrs bound(Attrs attrs) const {
    for (AttrValue& attr : attrs) {
      auto* shape = std::get_if<Shape>(&attr);
      if (shape == nullptr) continue;
      for (int64_t axis = 0; axis < shape->rank(); ++axis) {
        const auto found = symbols_.find((*shape)[axis].symbol());
        if (found != symbols_.end()) (*shape)[axis] = found->second;
      }
    }
    return attrs;
  }

  const Graph& graph_;
  const Context& context_;
  SymbolDims symbols_;
  std::vector<Tensor> values_;
  std::vector<int32_t> uses_left_;
};

}  // namespace

NodeId Graph::append(Node node) {
  // Absent operands at the end are the same as operands not given; one form keeps nodes comparable.
  while (!node.operands.empty() && node.operands.back() == kAbsent) node.operands.pop_back();
  for (const NodeId operand : node.operands) CAPRA_CHECK(operand >= kAbsent && operand < size());
  nodes_.push_back(std::move(node));
  return size() - 1;
}

std::vector<const TensorType*> operand_types(const Graph& graph, std::span<const NodeId> operands) {
  std::vector<const TensorType*> types;
  types.reserve(operands.size());
  for (const NodeId operand : operands) {
    types.push_back(operand == kAbsent ? nullptr : &graph.node(operand).type);
  }
  return types;
}

Result<NodeId> Graph::append_call(const OpDef& op, std::vector<NodeId> operands, Attrs attrs,
                                  std::string path) {
  Result<TensorType> type = infer_type(op, operand_types(*this, operands), attrs);
  if (!type.ok()) {
    Diagnostic diagnostic = type.error();
    if (!path.empty()) diagnostic.at = path + ": " + diagnostic.at;
    return fail(std::move(diagnostic));
  }
  return append({.op = &op,
                 .operands = std::move(operands),
                 .attrs = std::move(attrs),
                 .type = *std::move(type),
                 .path = std::move(path)});
}

std::vector<NodeId> Graph::inputs() const { return nodes_of(*this, kInput); }
std::vector<NodeId> Graph::parameters() const { return nodes_of(*this, kParameter); }
std::vector<NodeId> Graph::outputs() const { return nodes_of(*this, kOutput); }

NodeId Graph::find_input(std::string_view name) const {
  return find_named<InputAttrs>(*this, kInput, name);
}

NodeId Graph::find_output(std::string_view name) const {
  return find_named<OutputAttrs>(*this, kOutput, name);
}

std::vector<std::vector<NodeId>> Graph::users() const {
  std::vector<std::vector<NodeId>> users(nodes_.size());
  for (NodeId id = 0; id < size(); ++id) {
    for (const NodeId operand : node(id).operands) {
      if (operand != kAbsent) users[static_cast<size_t>(operand)].push_back(id);
    }
  }
  return users;
}

bool operator==(const Graph& a, const Graph& b) {
  if (a.name_ != b.name_ || a.nodes_.size() != b.nodes_.size()) return false;
  for (NodeId id = 0; id < a.size(); ++id) {
    if (!equal_nodes(a.node(id), b.node(id))) return false;
  }
  return true;
}

const Note* find_note(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.notes, name, &Note::name);
  return found == node.notes.end() ? nullptr : &*found;
}

Graph graph_of_call(const Graph& graph, const Node& node, std::string name) {
  Graph single(std::move(name));
  std::vector<NodeId> operands;
  for (const NodeId operand : node.operands) {
    if (operand == kAbsent) {
      operands.push_back(kAbsent);
      continue;
    }
    const TensorType& type = graph.node(operand).type;
    const InputAttrs input{"arg" + number_text(single.size()), type};
    operands.push_back(
        single.append({.op = &kInput, .operands = {}, .attrs = pack(input), .type = type}));
  }
  const NodeId result =
      single.append({.op = node.op, .operands = operands, .attrs = node.attrs, .type = node.type});
  single.append({.op = &kOutput,
                 .operands = {result},
                 .attrs = pack(OutputAttrs{"result"}),
                 .type = node.type});
  return single;
}

Graph build_graph(Tape tape) {
  Graph graph(std::move(tape.name));
  for (TapeEntry& entry : tape.entries) {
    std::string name = entry.op == &kInput ? unpack<InputAttrs>(entry.attrs).name : "";
    graph.append({.op = entry.op,
                  .operands = std::move(entry.operands),
                  .attrs = std::move(entry.attrs),
                  .type = std::move(entry.type),
                  .name = std::move(name),
                  .path = std::move(entry.path),
                  .notes = std::move(entry.notes)});
  }
  return graph;
}

Tape build_tape(const Graph& graph) {
  Tape tape;
  tape.name = graph.name();
  for (const Node& node : graph.nodes()) {
    CAPRA_CHECK(node.body == nullptr);
    tape.entries.push_back({node.op, node.operands, node.attrs, node.type, node.path, node.notes});
  }
  return tape;
}

std::vector<Tensor> replay(const Graph& graph, const Context& context,
                           std::span<const Tensor> inputs) {
  return Replay(graph, context, {}).run(inputs);
}

}  // namespace capra
