// Each node of the network becomes one call.
#include "tests/targets/ga2/traced_network.h"

#include <string>
#include <utility>

#include "capra/ir/structural_ops.h"
#include "capra/ir/tape.h"
#include "capra/ops/add.h"
#include "capra/ops/argmax.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/matmul.h"
#include "capra/ops/relu.h"
#include "capra/ops/slice.h"
#include "capra/ops/softmax.h"

namespace capra::ga2 {
namespace {

class Tracer {
 public:
  Tracer(const Network& network, DType dtype)
      : network_(network), dtype_(dtype), context_(TraceSink::begin("main")) {}

  Traced run() {
    for (const NetworkNode& node : network_.nodes()) {
      tensors_.push_back(call(node));
    }
    Graph graph = build_graph(sink().take_tape());
    for (NodeIndex i = 0; i < network_.size(); ++i) {
      // Every node of the network was one call.
      std::vector<Note>& notes = graph.node(static_cast<NodeId>(i)).notes;
      if (network_.node(i).bits != 8) notes.push_back({"bits", int64_t{network_.node(i).bits}});
      if (!network_.node(i).tag.empty()) notes.push_back({"tag", network_.node(i).tag});
    }
    return {std::move(graph), std::move(parameters_)};
  }

 private:
  TraceSink& sink() { return static_cast<TraceSink&>(context_.sink()); }
  const Tensor& operand(const NetworkNode& node, size_t i) const {
    return tensors_[static_cast<size_t>(node.operands[i])];
  }
  TensorType type(const NetworkNode& node) const {
    return {dtype_, Shape{node.shape.rows, node.shape.columns}};
  }

  Tensor weight(const NetworkNode& node) {
    Array data = Array::zeros(dtype_, {node.shape.rows, node.shape.columns});
    for (int64_t i = 0; i < data.elements(); ++i) {
      data.set(i, node.weights.values[static_cast<size_t>(i)]);
    }
    parameters_.emplace(node.name, std::move(data));
    return sink().parameter(context_, node.name, type(node));
  }

  Tensor slice_of(const NetworkNode& node) const {
    const int64_t limit = node.start + node.shape.rows;
    return slice(operand(node, 0),
                 {.starts = {node.start, 0}, .limits = Shape{limit, node.shape.columns}});
  }

  Tensor call(const NetworkNode& node) {
    switch (node.op) {
      case NodeOp::Input:
        return sink().input(context_, node.name, type(node));
      case NodeOp::Weight:
        return weight(node);
      case NodeOp::Matmul:
        return matmul(operand(node, 0), operand(node, 1),
                      {.transpose_b = node.transpose_b, .factor = node.factor});
      case NodeOp::Softmax:
        return softmax(operand(node, 0));
      case NodeOp::Add:
        return add(operand(node, 0), operand(node, 1));
      case NodeOp::Relu:
        return relu(operand(node, 0));
      case NodeOp::Concat:
        return concat(std::vector{operand(node, 0), operand(node, 1)});
      case NodeOp::Slice:
        return slice_of(node);
      case NodeOp::Argmax:
        return argmax(operand(node, 0), {.keep_dims = true});
      case NodeOp::Output:
        sink().output(operand(node, 0), node.name);
        // An output has a place among the nodes, and no value.
        return operand(node, 0);
    }
    CAPRA_CHECK(false);
  }

  const Network& network_;
  DType dtype_;
  Context context_;
  std::vector<Tensor> tensors_;
  Parameters parameters_;
};

}  // namespace

Traced traced(const Network& network, DType dtype) { return Tracer(network, dtype).run(); }

Graph with_constants(Graph graph, const Parameters& parameters) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    Node& node = graph.node(id);
    if (node.op != &kParameter) continue;
    node.name = node.attrs_as<ParameterAttrs>().path;
    node.attrs = pack(ConstantAttrs{parameters.find(node.name)->second});
    node.op = &kConstant;
  }
  return graph;
}

}  // namespace capra::ga2
