// Seeded data and the comparison of results.
#include "tools/golden/execute.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/runtime/target.h"
#include "capra/targets/all_targets.h"
#include "tests/support/sequence.h"

namespace capra::golden {
namespace {

using testing::Random;

constexpr double kSpecials[] = {
    std::numeric_limits<double>::quiet_NaN(),
    std::numeric_limits<double>::infinity(),
    -std::numeric_limits<double>::infinity(),
    0.0,
    -0.0,
    1e-40,
    -1e-40,
    88.0,
    -88.0,
};

Array seeded_array(const TensorType& type, DataKind kind, Random& random) {
  Array array = Array::zeros(type.dtype, type.shape.sizes());
  for (int64_t i = 0; i < array.elements(); ++i) {
    const uint64_t bits = random.next();
    if (type.dtype == DType::Bool) {
      array.set_i64(i, static_cast<int64_t>(bits & 1));
    } else if (is_integer(type.dtype)) {
      const auto value = static_cast<int64_t>(bits % 5) - 2;
      array.set_i64(i, is_signed_integer(type.dtype) ? value : std::max<int64_t>(value, 0));
    } else if (kind == DataKind::Special && bits % 3 == 0) {
      array.set(i, kSpecials[(bits >> 32) % std::size(kSpecials)]);
    } else {
      // 21 bits: f32 holds the value exactly, so both dtypes start from the same number.
      array.set(i, static_cast<double>(static_cast<int64_t>(bits >> 43)) * 0x1p-19 - 2.0);
    }
  }
  return array;
}

Status bind_shape(const Shape& shape, const std::vector<int64_t>& sizes, std::string_view name,
                  DimBindings& bindings) {
  bool fits = static_cast<size_t>(shape.rank()) == sizes.size();
  for (int64_t axis = 0; fits && axis < shape.rank(); ++axis) {
    const int64_t size = sizes[static_cast<size_t>(axis)];
    const Dim& dim = shape[axis];
    fits = dim.is_static() ? dim.size() == size
                           : bindings.emplace(dim.symbol(), size).first->second == size;
  }
  if (fits) return {};
  return fail("golden-data", fmt::format("data for {} does not fit {}", name, shape.text()));
}

void bind_rest(const Shape& shape, DimBindings& bindings) {
  constexpr std::array<int64_t, 5> kExtents = {5, 3, 7, 2, 11};
  for (const Dim& dim : shape.dims()) {
    if (!dim.is_static()) {
      bindings.emplace(dim.symbol(), kExtents[bindings.size() % kExtents.size()]);
    }
  }
}

bool same_number(double a, double b, const double* within) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (within == nullptr) return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  return a == b || std::abs(a - b) <= *within;
}

}  // namespace

std::span<const double> special_values() { return kSpecials; }

Result<RunData> seeded_data(const Graph& graph,
                            const std::map<std::string, Array, std::less<>>& given,
                            DimBindings bindings, DataKind kind, uint64_t seed) {
  RunData data;
  for (const NodeId id : graph.inputs()) {
    const auto input = graph.node(id).attrs_as<InputAttrs>();
    const auto found = given.find(input.name);
    if (found == given.end()) continue;
    if (found->second.dtype() != input.type.dtype) {
      return fail("golden-data",
                  fmt::format("data for {} is not {}", input.name, dtype_name(input.type.dtype)));
    }
    CAPRA_TRY(bind_shape(input.type.shape, found->second.sizes(), input.name, bindings));
    data.inputs[input.name] = found->second;
  }
  for (const auto& [name, array] : given) {
    if (!data.inputs.contains(name)) {
      return fail("golden-data", fmt::format("there is no input {}", name));
    }
  }
  Random random(seed);
  const auto make = [&](const TensorType& type) -> Result<Array> {
    bind_rest(type.shape, bindings);
    CAPRA_ASSIGN(const Shape shape, type.shape.bind(bindings));
    return seeded_array({type.dtype, shape}, kind, random);
  };
  for (const NodeId id : graph.inputs()) {
    const auto input = graph.node(id).attrs_as<InputAttrs>();
    if (data.inputs.contains(input.name)) continue;
    CAPRA_ASSIGN(data.inputs[input.name], make(input.type));
  }
  for (const NodeId id : graph.parameters()) {
    const auto parameter = graph.node(id).attrs_as<ParameterAttrs>();
    CAPRA_ASSIGN(data.parameters[parameter.path], make(parameter.type));
  }
  return data;
}

namespace {

Result<std::vector<Array>> inputs_in_order(const Graph& graph, const RunData& data) {
  std::vector<Array> inputs;
  for (const NodeId id : graph.inputs()) {
    const auto input = graph.node(id).attrs_as<InputAttrs>();
    const auto found = data.inputs.find(input.name);
    if (found == data.inputs.end()) {
      return fail("golden-data", fmt::format("the result has a new input {}", input.name));
    }
    inputs.push_back(found->second);
  }
  return inputs;
}

std::map<std::string, Array> outputs_by_name(const Graph& graph, std::vector<Array> arrays) {
  std::map<std::string, Array> outputs;
  const std::vector<NodeId> ids = graph.outputs();
  CAPRA_CHECK(ids.size() == arrays.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    outputs[graph.node(ids[i]).attrs_as<OutputAttrs>().name] = std::move(arrays[i]);
  }
  return outputs;
}

}  // namespace

RunData magnitudes(const RunData& data) {
  RunData positive;
  for (const auto& [name, array] : data.inputs) {
    Array copy = Array::zeros(array.dtype(), array.sizes());
    for (int64_t i = 0; i < array.elements(); ++i) {
      if (is_float(array.dtype())) {
        copy.set(i, std::abs(array.f64_at(i)));
      } else {
        copy.set_i64(i, array.i64_at(i));
      }
    }
    positive.inputs[name] = std::move(copy);
  }
  return positive;
}

Result<std::map<std::string, Array>> run_on_oracle(const Graph& graph, const RunData& data) {
  CAPRA_ASSIGN(const std::vector<Array> inputs, inputs_in_order(graph, data));
  CAPRA_ASSIGN(std::vector<Array> outputs, interpret(graph, inputs, data.parameters));
  return outputs_by_name(graph, std::move(outputs));
}

Result<std::map<std::string, Array>> run_on_target(std::string_view target, const Graph& graph,
                                                   const RunData& data) {
  CAPRA_ASSIGN(const Target* record, find_target(all_targets(), target));
  CAPRA_ASSIGN(const std::vector<Array> inputs, inputs_in_order(graph, data));
  CAPRA_ASSIGN(const std::unique_ptr<Executable> executable,
               compile(*record, graph, data.parameters, {.optimize = false}));
  Workspace workspace = executable->make_workspace();
  const std::vector<InputRef> refs(inputs.begin(), inputs.end());
  CAPRA_ASSIGN(std::vector<Array> outputs, executable->run(workspace, refs));
  return outputs_by_name(graph, std::move(outputs));
}

std::string first_difference(const std::map<std::string, Array>& a,
                             const std::map<std::string, Array>& b, const double* within) {
  if (a.size() != b.size()) return "the graphs have different numbers of outputs";
  for (const auto& [name, left] : a) {
    const auto found = b.find(name);
    if (found == b.end()) return fmt::format("there is no output {}", name);
    const Array& right = found->second;
    if (left.sizes() != right.sizes() || left.dtype() != right.dtype()) {
      return fmt::format("output {} is {} and {}", name, left.type().text(), right.type().text());
    }
    for (int64_t i = 0; i < left.elements(); ++i) {
      if (is_integer(left.dtype()) ? left.i64_at(i) == right.i64_at(i)
                                   : same_number(left.f64_at(i), right.f64_at(i), within)) {
        continue;
      }
      return fmt::format("output {}[{}] is {:.17g} and {:.17g}", name, i, left.f64_at(i),
                         right.f64_at(i));
    }
  }
  return {};
}

}  // namespace capra::golden
