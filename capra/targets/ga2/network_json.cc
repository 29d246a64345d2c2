// Nodes become the calls that make them; what a node says of its shape must be what its call makes.
#include "capra/targets/ga2/network_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "capra/base/number_text.h"

namespace capra::ga2 {
namespace {

Failure malformed(const std::string& at, std::string message) {
  return fail("network-document", std::move(message), at,
              "docs/ga2.md has the form of the document");
}

using Keys = std::vector<std::string_view>;

// A key that nothing reads says something that would not be done.
Status check_keys(const Json& object, const Keys& known, const std::string& at) {
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    return fail("network-document", "there is a member " + key + ", which nothing reads", at,
                fmt::format("those that are read: {}", fmt::join(known, ", ")));
  }
  return {};
}

// One JSON object and where it is, for messages.
struct Entry {
  const Json& json;
  std::string at;

  Result<const Json*> member(std::string_view key) const {
    if (const Json* found = json.find(key)) return found;
    return malformed(at, json.is_object() ? "there is no member " + std::string(key)
                                          : "found " + std::string(json.kind_text()) +
                                                ", needed an object with " + std::string(key));
  }

  Result<int64_t> integer(std::string_view key) const {
    CAPRA_ASSIGN(const Json* found, member(key));
    const std::optional<int64_t> value = found->as_i64();
    if (value) return *value;
    return malformed(
        at, std::string(key) + " is " + std::string(found->kind_text()) + ", needed an integer");
  }

  Result<double> number(std::string_view key, double absent) const {
    const Json* found = json.find(key);
    if (found == nullptr) return absent;
    const std::optional<double> value = found->as_f64();
    if (value) return *value;
    return malformed(
        at, std::string(key) + " is " + std::string(found->kind_text()) + ", needed a number");
  }

  Result<bool> boolean(std::string_view key, bool absent) const {
    const Json* found = json.find(key);
    if (found == nullptr) return absent;
    const std::optional<bool> value = found->as_bool();
    if (value) return *value;
    return malformed(
        at, std::string(key) + " is " + std::string(found->kind_text()) + ", needed true or false");
  }

  Result<std::string> string(std::string_view key) const {
    CAPRA_ASSIGN(const Json* found, member(key));
    if (const std::string* value = found->as_string()) return *value;
    return malformed(
        at, std::string(key) + " is " + std::string(found->kind_text()) + ", needed a string");
  }
};

Result<Extents> read_shape(const Entry& entry) {
  CAPRA_ASSIGN(const Json* shape, entry.member("shape"));
  const std::span<const Json> items = shape->items();
  if (items.size() == 2 && items[0].as_i64() && items[1].as_i64()) {
    return Extents{*items[0].as_i64(), *items[1].as_i64()};
  }
  return malformed(entry.at, "shape is not a list of two integers");
}

Result<Sample> read_sample(const Json& json, const std::string& at) {
  if (!json.is_object()) return malformed(at, "needed an object with a matrix for each input");
  Sample sample;
  for (const auto& [name, values] : json.members()) {
    CAPRA_ASSIGN(sample[name], read_matrix(values, fmt::format("{}, {}", at, name)));
  }
  return sample;
}

// The operands of a call or node, as many as the op has.
template <size_t count>
using Operands = std::array<NodeIndex, count>;

template <size_t count>
Result<Operands<count>> read_operands(const Entry& entry) {
  constexpr std::array<std::string_view, 2> kNames = {"a", "b"};
  Operands<count> operands{};
  if (entry.json.find("call") != nullptr) {
    for (size_t i = 0; i < count; ++i) {
      CAPRA_ASSIGN(operands[i], entry.integer(kNames[i]));
    }
    return operands;
  }
  CAPRA_ASSIGN(const Json* list, entry.member("ins"));
  for (size_t i = 0; i < count; ++i) {
    const std::optional<int64_t> operand = list->items()[i].as_i64();
    if (!operand) return malformed(entry.at, "ins has an entry that is no integer");
    operands[i] = *operand;
  }
  return operands;
}

using AddNode = Result<NodeIndex> (*)(Network&, const Entry&);

Result<NodeIndex> add_input(Network& network, const Entry& entry) {
  CAPRA_ASSIGN(std::string name, entry.string("name"));
  CAPRA_ASSIGN(const Extents shape, read_shape(entry));
  return network.input(std::move(name), shape);
}

Result<NodeIndex> add_weight(Network& network, const Entry& entry) {
  CAPRA_ASSIGN(std::string name, entry.string("name"));
  CAPRA_ASSIGN(const Json* array, entry.member("array"));
  CAPRA_ASSIGN(Matrix<double> values, read_matrix(*array, entry.at + ", array"));
  const Json* found = entry.json.find("bits");
  const std::optional<int64_t> bits =
      found == nullptr ? std::optional<int64_t>(8) : found->as_i64();
  // Whatever is no small integer is no number of bits.
  return network.weight(std::move(name), std::move(values),
                        bits && *bits >= 0 && *bits <= 64 ? static_cast<int>(*bits) : 0);
}

Result<NodeIndex> add_matmul(Network& network, const Entry& entry) {
  CAPRA_ASSIGN(const Operands<2> operands, read_operands<2>(entry));
  CAPRA_ASSIGN(const bool transpose_b, entry.boolean("transpose_b", false));
  CAPRA_ASSIGN(const double factor, entry.number("scale", 1));
  return network.matmul(operands[0], operands[1], transpose_b, factor);
}

template <Result<NodeIndex> (Network::*call)(NodeIndex)>
Result<NodeIndex> add_unary(Network& network, const Entry& entry) {
  CAPRA_ASSIGN(const Operands<1> operands, read_operands<1>(entry));
  return (network.*call)(operands[0]);
}

template <Result<NodeIndex> (Network::*call)(NodeIndex, NodeIndex)>
Result<NodeIndex> add_binary(Network& network, const Entry& entry) {
  CAPRA_ASSIGN(const Operands<2> operands, read_operands<2>(entry));
  return (network.*call)(operands[0], operands[1]);
}

Result<NodeIndex> add_slice(Network& network, const Entry& entry) {
  CAPRA_ASSIGN(const Operands<1> operands, read_operands<1>(entry));
  CAPRA_ASSIGN(const int64_t start, entry.integer("start"));
  CAPRA_ASSIGN(const int64_t count, entry.integer("count"));
  return network.slice_rows(operands[0], start, count);
}

Result<NodeIndex> add_output(Network& network, const Entry& entry) {
  CAPRA_ASSIGN(const Operands<1> operands, read_operands<1>(entry));
  CAPRA_ASSIGN(std::string name, entry.string("name"));
  return network.output(operands[0], std::move(name));
}

// A node's op, and the call that makes it.
struct Spelling {
  std::string_view op;
  std::string_view call;
  AddNode add;
  size_t operands;
  std::array<std::string_view, 3> own_keys = {};  // beside those of every op; the rest empty
};

constexpr Spelling kSpellings[] = {
    {"input", "input", add_input, 0, {"name", "shape"}},
    {"weight", "weight", add_weight, 0, {"name", "array", "bits"}},
    {"matmul", "matmul", add_matmul, 2, {"transpose_b", "scale"}},
    {"softmax", "softmax", add_unary<&Network::softmax>, 1},
    {"add", "add", add_binary<&Network::add>, 2},
    {"relu", "relu", add_unary<&Network::relu>, 1},
    {"concat", "concat_rows", add_binary<&Network::concat_rows>, 2},
    {"slice", "slice_rows", add_slice, 1, {"start", "count"}},
    {"argmax", "argmax", add_unary<&Network::argmax>, 1},
    {"output", "output", add_output, 1, {"name"}},
};

// A node has its place, operands and shape, a call what it is called with.
Keys keys_of(const Spelling& spelling, bool is_call) {
  Keys keys = is_call ? Keys{"call", "a", "b"} : Keys{"op", "id", "ins", "shape"};
  if (is_call) keys.resize(1 + spelling.operands);
  std::ranges::copy_if(spelling.own_keys, std::back_inserter(keys), [&](std::string_view key) {
    return !key.empty() && std::ranges::find(keys, key) == keys.end();
  });
  keys.emplace_back("tag");
  return keys;
}

Status check_operand_count(const Entry& entry, size_t needed) {
  const Json* list = entry.json.find("ins");
  if (list == nullptr || (list->is_array() && list->items().size() == needed)) return {};
  return malformed(entry.at,
                   list->is_array()
                       ? fmt::format("ins has {} entries, needed {}", list->items().size(), needed)
                       : fmt::format("ins is {}, needed a list", list->kind_text()));
}

Status add_entry(Network& network, const Entry& entry, bool is_call) {
  CAPRA_ASSIGN(const std::string name, entry.string(is_call ? "call" : "op"));
  for (const Spelling& spelling : kSpellings) {
    if ((is_call ? spelling.call : spelling.op) != name) continue;
    CAPRA_TRY(check_keys(entry.json, keys_of(spelling, is_call), entry.at));
    CAPRA_TRY(check_operand_count(entry, spelling.operands));
    Result<NodeIndex> node = spelling.add(network, entry);
    if (!node.ok()) {
      Diagnostic diagnostic = node.error();
      if (diagnostic.at.empty()) diagnostic.at = entry.at;
      return fail(std::move(diagnostic));
    }
    const Json* tag = entry.json.find("tag");
    if (tag == nullptr || tag->is_null()) return {};
    CAPRA_ASSIGN(const std::string text, entry.string("tag"));
    network.tag(*node, text);
    return {};
  }
  return malformed(entry.at, "there is no op " + name);
}

// What a node says beside its call: its number and its shape.
Status check_node(const Network& network, const Entry& entry) {
  const NodeIndex index = network.size() - 1;
  if (const Json* id = entry.json.find("id"); id != nullptr && id->as_i64() != index) {
    return malformed(entry.at, "id is not " + number_text(index) + ", the node's place");
  }
  if (entry.json.find("shape") == nullptr) return {};
  CAPRA_ASSIGN(const Extents shape, read_shape(entry));
  if (shape == network.node(index).shape) return {};
  return malformed(entry.at, "shape is " + extents_text(shape) + ", the op makes " +
                                 extents_text(network.node(index).shape));
}

Result<Network> read_network(const Json& document, const std::string& at) {
  Network network;
  const Json* build = document.find("build");
  const Json* graph = document.find("graph");
  const Json* nodes = build != nullptr || graph == nullptr ? build : graph->find("nodes");
  if (nodes == nullptr || !nodes->is_array()) {
    return malformed(at, "there is neither graph with a list of nodes nor build");
  }
  for (const Json& item : nodes->items()) {
    const Entry entry{item, at + ", node " + number_text(network.size())};
    CAPRA_TRY(add_entry(network, entry, build != nullptr));
    if (build == nullptr) CAPRA_TRY(check_node(network, entry));
  }
  return network;
}

Result<CompileOptions> options_of(const Json& json, const std::string& at) {
  CompileOptions options;
  if (json.is_null()) return options;
  if (!json.is_object()) return malformed(at, "needed an object with ranges and reuse");
  CAPRA_TRY(check_keys(json, {"ranges", "reuse"}, at));
  CAPRA_ASSIGN(options.reuse, (Entry{json, at}.boolean("reuse", true)));
  const Json* ranges = json.find("ranges");
  if (ranges == nullptr || ranges->is_null()) return options;
  if (!ranges->is_object()) {
    return malformed(at + ", ranges", "needed an object with the range of each tag");
  }
  for (const auto& [tag, value] : ranges->members()) {
    const std::optional<double> range = value.as_f64();
    if (!range) return malformed(at + ", ranges", "the range of " + tag + " is no number");
    options.ranges[tag] = *range;
  }
  return options;
}

// A list of samples; none where it is missing.
Result<std::vector<Sample>> read_list(const Json* list, const std::string& at) {
  std::vector<Sample> samples;
  if (list == nullptr) return samples;
  if (!list->is_array()) return malformed(at, "calib is no list of samples");
  samples.reserve(list->items().size());
  for (const Json& sample : list->items()) {
    CAPRA_ASSIGN(Sample read, read_sample(sample, fmt::format("{}, calib {}", at, samples.size())));
    samples.push_back(std::move(read));
  }
  return samples;
}

Result<std::optional<Sample>> read_test(const Json& document, const std::string& at) {
  const Json* test = document.find("test");
  if (test == nullptr || test->is_null()) return std::optional<Sample>();
  CAPRA_ASSIGN(Sample sample, read_sample(*test, at + ", test"));
  return std::optional<Sample>(std::move(sample));
}

}  // namespace

Result<Matrix<double>> read_matrix(const Json& json, const std::string& at) {
  const std::span<const Json> rows = json.items();
  const size_t columns = rows.empty() ? 0 : rows[0].items().size();
  if (columns == 0) return malformed(at, "needed a list of one or more rows of numbers");
  Matrix<double> matrix(static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns));
  size_t next = 0;
  for (const Json& row : rows) {
    if (row.items().size() != columns) {
      return malformed(at, fmt::format("rows have {} and {} numbers", columns, row.items().size()));
    }
    for (const Json& item : row.items()) {
      const std::optional<double> value = item.as_f64();
      if (!value) return malformed(at, fmt::format("found {} among numbers", item.kind_text()));
      matrix.values[next++] = *value;
    }
  }
  return matrix;
}

Result<SampleSet> read_samples(const Json& document, const std::string& at) {
  const Json* list = document.is_object() ? document.find("calib") : &document;
  if (list == nullptr) return malformed(at, "there is no member calib");
  SampleSet samples;
  CAPRA_ASSIGN(samples.calibration, read_list(list, at));
  CAPRA_ASSIGN(samples.test, read_test(document, at));
  return samples;
}

Result<CompileOptions> read_options(const Json& document, const std::string& at) {
  const Json* options = document.find("compile");
  return options == nullptr ? CompileOptions{} : options_of(*options, at + ", compile");
}

Result<CompileRequest> read_request(const Json& document, const std::string& at) {
  CompileRequest request;
  CAPRA_ASSIGN(request.network, read_network(document, at));
  CAPRA_ASSIGN(request.calibration, read_list(document.find("calib"), at));
  CAPRA_ASSIGN(request.test, read_test(document, at));
  CAPRA_ASSIGN(request.options, read_options(document, at));
  return request;
}

}  // namespace capra::ga2
