// A request as a document: every node with all that its op has.
#include <utility>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/program_json.h"

namespace capra::ga2 {
namespace {

Json pair_json(int64_t first, int64_t second) { return std::vector<Json>{first, second}; }

void add_weight(Json& entry, const NetworkNode& node) {
  entry.set("bits", node.bits).set("array", matrix_json(node.weights));
}

Json node_json(const NetworkNode& node, NodeIndex index) {
  Json entry = Json::object();
  entry.set("id", index).set("op", node_op_name(node.op));
  Json operands = Json::array();
  for (const NodeIndex operand : node.operands) operands.push(operand);
  entry.set("ins", std::move(operands));
  entry.set("shape", pair_json(node.shape.rows, node.shape.columns));
  if (!node.name.empty()) entry.set("name", node.name);
  if (!node.tag.empty()) entry.set("tag", node.tag);
  if (node.op == NodeOp::Weight) add_weight(entry, node);
  if (node.op == NodeOp::Matmul) {
    entry.set("transpose_b", node.transpose_b).set("scale", node.factor);
  }
  if (node.op == NodeOp::Slice) entry.set("start", node.start).set("count", node.shape.rows);
  return entry;
}

Json sample_json(const Sample& sample) {
  Json members = Json::object();
  for (const auto& [name, values] : sample) members.set(name, matrix_json(values));
  return members;
}

}  // namespace

Json request_json(const CompileRequest& request) {
  Json nodes = Json::array();
  for (NodeIndex i = 0; i < request.network.size(); ++i) {
    nodes.push(node_json(request.network.node(i), i));
  }
  Json graph = Json::object();
  graph.set("nodes", std::move(nodes));
  Json samples = Json::array();
  for (const Sample& sample : request.calibration) samples.push(sample_json(sample));
  Json ranges = Json::object();
  for (const auto& [tag, range] : request.options.ranges) ranges.set(tag, range);
  Json options = Json::object();
  options.set("ranges", std::move(ranges)).set("reuse", request.options.reuse);
  Json document = Json::object();
  document.set("graph", std::move(graph)).set("calib", std::move(samples));
  if (request.test) document.set("test", sample_json(*request.test));
  return document.set("compile", std::move(options));
}

}  // namespace capra::ga2
