// Read off the instructions alone: every word remembers which value was last written to it.
#include "capra/targets/ga2/explain/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "capra/targets/ga2/isa/access.h"

namespace capra::ga2 {
namespace {

// What the value that an instruction writes is called.
class Namer {
 public:
  explicit Namer(const Program& program) : program_(program), nodes_(computed_nodes(program)) {}

  std::pair<std::string, ValueKind> of(size_t number) {
    const Instruction& one = program_.instructions[number];
    if (const Load* load = std::get_if<Load>(&one)) {
      loaded_ = region_at(load->src);
      const NetworkNode& node = program_.network.node(loaded_->node);
      const bool packed = node.op == NodeOp::Weight && node.bits == 4;
      return {loaded_->name + (packed ? " packed" : ""), ValueKind::Loaded};
    }
    if (std::holds_alternative<Unpack>(one)) return {loaded_->name, ValueKind::Loaded};
    const std::string node = node_label(program_.network, nodes_[number]);
    if (std::holds_alternative<Multiply>(one)) return {node + " sums", ValueKind::Sums};
    if (std::holds_alternative<Softmax>(one)) return {node + " fractions", ValueKind::Fractions};
    if (std::holds_alternative<Requantize>(one) &&
        program_.network.node(nodes_[number]).op == NodeOp::Add) {
      return {node + " rescaled", ValueKind::Rescaled};
    }
    return {node, ValueKind::Result};
  }

 private:
  const ExternalRegion* region_at(int64_t address) const {
    const auto found = std::ranges::find_if(program_.external, [&](const ExternalRegion& one) {
      return address >= one.address && address < one.address + one.words;
    });
    return &*found;
  }

  const Program& program_;
  std::vector<NodeIndex> nodes_;
  const ExternalRegion* loaded_ = nullptr;
};

// Whether the instruction goes on with the value: tiles of one product, rows of one softmax.
bool continues(const KeptValue& value, const std::string& name, size_t number) {
  return value.name == name && value.kind != ValueKind::Loaded && value.last + 1 == number &&
         value.kind != ValueKind::Rescaled;
}

}  // namespace

std::string node_label(const Network& network, NodeIndex node) {
  const std::string& name = network.node(node).name;
  return name.empty() ? fmt::format("%{}", node) : name;
}

std::vector<NodeIndex> computed_nodes(const Program& program) {
  std::vector<NodeIndex> nodes(program.instructions.size(), -1);
  // Requantizers are listed in the order of the program.
  size_t next_requantizer = program.requantizers.size();
  NodeIndex node = -1;
  for (size_t i = program.instructions.size(); i-- > 0;) {
    const Instruction& one = program.instructions[i];
    if (std::holds_alternative<Requantize>(one)) {
      node = program.requantizers[--next_requantizer].node;
    } else if (!std::holds_alternative<Multiply>(one) && !std::holds_alternative<Softmax>(one)) {
      continue;
    }
    nodes[i] = node;
  }
  // Sums and argmaxes come in the order of their nodes.
  std::vector<NodeIndex> sums;
  std::vector<NodeIndex> rows;
  for (NodeIndex i = 0; i < program.network.size(); ++i) {
    const NetworkNode& one = program.network.node(i);
    if (one.op == NodeOp::Add) sums.push_back(i);
    if (one.op == NodeOp::Argmax) rows.insert(rows.end(), static_cast<size_t>(one.shape.rows), i);
  }
  size_t next_sum = 0;
  size_t next_row = 0;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& one = program.instructions[i];
    if (std::holds_alternative<Add>(one)) nodes[i] = sums[next_sum++];
    if (std::holds_alternative<Argmax>(one)) nodes[i] = rows[next_row++];
  }
  return nodes;
}

std::vector<KeptValue> kept_values(const Program& program) {
  std::vector<KeptValue> values;
  std::vector<std::optional<size_t>> holder(static_cast<size_t>(kScratchpadWords));
  Namer namer(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Access access = access_of(program.instructions[i]);
    for (const Words& read : access.reads) {
      for (int64_t at = read.address; at < read.address + read.count; ++at) {
        if (const auto held = holder[static_cast<size_t>(at)]) values[*held].last = i;
      }
    }
    if (access.writes.empty()) continue;
    auto [name, kind] = namer.of(i);
    const int64_t begin = access.writes.front().address;
    const int64_t end = access.writes.back().address + access.writes.back().count;
    if (values.empty() || !continues(values.back(), name, i)) {
      values.push_back({.name = std::move(name),
                        .kind = kind,
                        .address = begin,
                        .words = end - begin,
                        .first = i,
                        .last = i});
    }
    KeptValue& value = values.back();
    const int64_t old_end = value.address + value.words;
    value.address = std::min(value.address, begin);
    value.words = std::max(old_end, end) - value.address;
    value.last = i;
    for (const Words& write : access.writes) {
      for (int64_t at = write.address; at < write.address + write.count; ++at) {
        holder[static_cast<size_t>(at)] = values.size() - 1;
      }
    }
  }
  return values;
}

}  // namespace capra::ga2
