// Copying, splicing and grouping.
#include "capra/passes/graph_rewriter.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "capra/ir/schedule.h"
#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

// Notes of the approximation that the first of `notes` begins; 0: it begins none.
size_t record_size(std::span<const Note> notes) {
  constexpr std::string_view kMore[] = {"legalizedTo", "maxAbsError", "maxRelError", "reason"};
  if (notes.empty() || notes.front().name != "legalizedFrom") return 0;
  size_t size = 1;
  while (size < notes.size() && std::ranges::find(kMore, notes[size].name) != std::end(kMore)) {
    ++size;
  }
  return size;
}

}  // namespace

/// Appends every call to the result graph.
class GraphRewriter::AppendSink : public Sink {
 public:
  explicit AppendSink(GraphRewriter& rewriter) : rewriter_(rewriter) {}

  Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
               TensorType type) override {
    const NodeId value = rewriter_.append_call(op, operands, std::move(attrs), type);
    return Tensor::of_value(self, std::move(type), value);
  }

  Tensor parameter(const Context&, std::string_view path, TensorType) override {
    throw Error({"graph-invalid", "a replacement asks for a parameter", std::string(path)});
  }

 private:
  GraphRewriter& rewriter_;
};

GraphRewriter::GraphRewriter(const Graph& source)
    : source_(source),
      result_(source.name()),
      users_(source.users()),
      map_(static_cast<size_t>(source.size()), kAbsent),
      context_(std::make_shared<AppendSink>(*this)) {}

GraphRewriter::~GraphRewriter() = default;

NodeId GraphRewriter::mapped(NodeId old) const {
  if (old == kAbsent) return kAbsent;
  CAPRA_CHECK(is_mapped(old));
  return map_[static_cast<size_t>(old)];
}

NodeId GraphRewriter::copy(NodeId old) {
  if (is_mapped(old)) return mapped(old);
  Node node = source_.node(old);
  for (NodeId& operand : node.operands) {
    if (operand != kAbsent) operand = copy(operand);
  }
  const NodeId value = result_.append(std::move(node));
  prunable_.push_back(!users(old).empty());
  map_[static_cast<size_t>(old)] = value;
  return value;
}

void GraphRewriter::adopt(NodeId old, NodeId value) {
  map_[static_cast<size_t>(old)] = value;
  keep_notes(old, value);
}

void GraphRewriter::keep_notes(NodeId old, NodeId value) {
  const std::span<const Note> notes = source_.node(old).notes;
  for (size_t first = 0; first < notes.size();) {
    const size_t size = record_size(notes.subspan(first));
    if (size == 0) {
      add_note(value, notes[first]);
      ++first;
    } else {
      add_record(value, notes.subspan(first, size));
      first += size;
    }
  }
}

void GraphRewriter::add_record(NodeId value, std::span<const Note> record) {
  std::vector<Note>& notes = result_.node(value).notes;
  for (size_t first = 0; first < notes.size(); ++first) {
    const std::span<const Note> rest = std::span<const Note>(notes).subspan(first);
    if (std::ranges::equal(rest.first(record_size(rest)), record)) return;
  }
  notes.insert(notes.end(), record.begin(), record.end());
}

void GraphRewriter::move_name(NodeId from, NodeId to) {
  if (from == to || !result_.node(to).name.empty()) return;
  std::swap(result_.node(from).name, result_.node(to).name);
}

void GraphRewriter::add_note(NodeId value, const Note& note) {
  Node& node = result_.node(value);
  const std::optional<Note> kept = note_for(*node.op, note);
  if (kept && std::ranges::find(node.notes, *kept) == node.notes.end()) node.notes.push_back(*kept);
}

NodeId GraphRewriter::append(Node node) {
  prunable_.push_back(true);
  return result_.append(std::move(node));
}

NodeId GraphRewriter::append_for(NodeId old, Node node) {
  if (node.name.empty()) node.name = source_.node(old).name;
  return map_[static_cast<size_t>(old)] = append(std::move(node));
}

void GraphRewriter::replace(NodeId old, NodeId value) { adopt(old, value); }

Tensor GraphRewriter::tensor(NodeId old) const {
  return old == kAbsent ? Tensor() : result_tensor(mapped(old));
}

Tensor GraphRewriter::result_tensor(NodeId value) const {
  return Tensor::of_value(context_, result_.node(value).type, value);
}

void GraphRewriter::splice(NodeId old, const std::function<Tensor()>& calls) {
  const NodeId first = result_.size();
  splice_without_notes(old, calls);
  adopt(old, mapped(old));
  // A hint goes to each of the calls that can have it, such as the product among other steps.
  for (const Note& note : source_.node(old).notes) {
    if (note.name != kScheduleNote) continue;
    for (NodeId value = first; value < result_.size(); ++value) add_note(value, note);
  }
}

void GraphRewriter::splice_without_notes(NodeId old, const std::function<Tensor()>& calls) {
  path_ = source_.node(old).path;
  const NodeId first = result_.size();
  const NodeId value = calls().value();
  CAPRA_CHECK(value != kAbsent && result_.node(value).type == source_.node(old).type);
  Node& node = result_.node(value);
  if (value >= first && node.name.empty()) node.name = source_.node(old).name;
  map_[static_cast<size_t>(old)] = value;
}

NodeId GraphRewriter::append_call(const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
                                  TensorType type) {
  Node node{.op = &op, .operands = {}, .attrs = std::move(attrs), .type = std::move(type)};
  for (const Tensor& operand : operands) node.operands.push_back(operand.value());
  node.path = path_;
  return append(std::move(node));
}

void GraphRewriter::inline_group(NodeId old) {
  const Node& group = source_.node(old);
  const Graph& body = *group.body;
  std::vector<NodeId> values(static_cast<size_t>(body.size()), kAbsent);
  size_t next_input = 0;
  for (NodeId id = 0; id < body.size(); ++id) {
    Node node = body.node(id);
    for (NodeId& operand : node.operands) {
      if (operand != kAbsent) operand = values[static_cast<size_t>(operand)];
    }
    NodeId& value = values[static_cast<size_t>(id)];
    if (node.op == &kInput) {
      value = mapped(group.operands[next_input++]);
    } else if (node.op == &kOutput) {
      value = node.operands.front();
      if (result_.node(value).name.empty()) result_.node(value).name = group.name;
      adopt(old, value);
    } else {
      node.name.clear();
      value = append(std::move(node));
    }
  }
}

Graph inline_groups(Graph graph,
                    const std::function<bool(const Graph& graph, NodeId group)>& opens) {
  bool found = true;
  while (found) {
    found = false;
    GraphRewriter rewriter(graph);
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (graph.node(id).op == &kGroup && opens(graph, id)) {
        rewriter.inline_group(id);
        found = true;
      } else {
        rewriter.copy(id);
      }
    }
    if (found) graph = std::move(rewriter).finish();
  }
  return graph;
}

Graph GraphRewriter::finish() && {
  const auto count = static_cast<size_t>(result_.size());
  std::vector<int> uses(count, 0);
  for (const Node& node : result_.nodes()) {
    for (const NodeId operand : node.operands) {
      if (operand != kAbsent) ++uses[static_cast<size_t>(operand)];
    }
  }
  std::vector<bool> dropped(count, false);
  for (size_t i = count; i-- > 0;) {
    const Node& node = result_.node(static_cast<NodeId>(i));
    if (uses[i] > 0 || !prunable_[i] || node.op == &kOutput || node.op == &kInput) continue;
    dropped[i] = true;
    for (const NodeId operand : node.operands) {
      if (operand != kAbsent) --uses[static_cast<size_t>(operand)];
    }
  }
  Graph kept(result_.name());
  std::vector<NodeId> moved(count, kAbsent);
  for (size_t i = 0; i < count; ++i) {
    if (dropped[i]) continue;
    Node& node = result_.node(static_cast<NodeId>(i));
    for (NodeId& operand : node.operands) {
      if (operand != kAbsent) operand = moved[static_cast<size_t>(operand)];
    }
    moved[i] = kept.append(std::move(node));
  }
  return kept;
}

GroupBuilder::GroupBuilder(GraphRewriter& rewriter, std::string_view label)
    : rewriter_(rewriter), label_(label), body_(std::string(label)) {}

NodeId GroupBuilder::input(std::string_view role, NodeId old) {
  if (old == kAbsent) return kAbsent;
  operands_.push_back(rewriter_.copy(old));
  const TensorType& type = rewriter_.source().node(old).type;
  return body_.append({.op = &kInput,
                       .operands = {},
                       .attrs = pack(InputAttrs{std::string(role), type}),
                       .type = type,
                       .name = std::string(role)});
}

NodeId GroupBuilder::copy(NodeId old, std::vector<NodeId> operands) {
  Node node = rewriter_.source().node(old);
  node.operands = std::move(operands);
  node.name.clear();
  return body_.append(std::move(node));
}

NodeId GroupBuilder::call(const OpDef& op, std::vector<NodeId> operands, Attrs attrs,
                          std::string path) {
  return body_.append_call(op, std::move(operands), std::move(attrs), std::move(path))
      .value_or_throw();
}

Node GroupBuilder::close(NodeId result, std::string path) {
  const TensorType type = body_.node(result).type;
  body_.append(
      {.op = &kOutput, .operands = {result}, .attrs = pack(OutputAttrs{"result"}), .type = type});
  Node node{.op = &kGroup,
            .operands = std::move(operands_),
            .attrs = pack(GroupAttrs{label_}),
            .type = type};
  node.path = std::move(path);
  node.body = std::make_shared<const Graph>(std::move(body_));
  return node;
}

NodeId GroupBuilder::finish_for(NodeId root, NodeId result) {
  return rewriter_.append_for(root, close(result, rewriter_.source().node(root).path));
}

NodeId GroupBuilder::finish(NodeId result, std::string path) {
  return rewriter_.append(close(result, std::move(path)));
}

}  // namespace capra
