// Checking what a run is given against what the graph declares.
#include "capra/runtime/executable.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "capra/ir/graph.h"
#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

int find_port(const std::vector<Port>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &Port::name);
  return found == ports.end() ? -1 : static_cast<int>(found - ports.begin());
}

std::string type_text(const InputRef& input) {
  return TensorType{input.dtype,
                    Shape(std::vector<int64_t>(input.sizes.begin(), input.sizes.end()))}
      .text();
}

}  // namespace

Failure out_of_memory() {
  return fail("out-of-memory", "there is not enough memory for the values of this graph", {},
              "run it on smaller inputs");
}

std::vector<Port> input_ports(const Graph& graph) {
  std::vector<Port> ports;
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    ports.push_back({node.attrs_as<InputAttrs>().name, node.type});
  }
  return ports;
}

std::vector<Port> output_ports(const Graph& graph) {
  std::vector<Port> ports;
  for (const NodeId id : graph.outputs()) {
    const Node& node = graph.node(id);
    ports.push_back({node.attrs_as<OutputAttrs>().name, node.type});
  }
  return ports;
}

int Executable::find_input(std::string_view name) const { return find_port(inputs_, name); }
int Executable::find_output(std::string_view name) const { return find_port(outputs_, name); }

Status Executable::check_inputs(std::span<const InputRef> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return fail("input-count", "the graph has " + std::to_string(inputs_.size()) +
                                   " inputs, the run was given " + std::to_string(inputs.size()));
  }
  for (size_t index = 0; index < inputs.size(); ++index) {
    const Port& port = inputs_[index];
    const InputRef& input = inputs[index];
    bool fits =
        input.dtype == port.type.dtype && input.sizes.size() == port.type.shape.dims().size();
    for (size_t axis = 0; fits && axis < input.sizes.size(); ++axis) {
      const Dim& dim = port.type.shape.dims()[axis];
      fits = input.sizes[axis] >= 0 && (!dim.is_static() || dim.size() == input.sizes[axis]);
    }
    if (!fits) {
      return fail("input-type",
                  "the graph takes " + port.type.text() + ", the run was given " + type_text(input),
                  "input '" + port.name + "'", "give data of the type that the graph declares");
    }
  }
  return {};
}

Status Executable::store(const Array& result, const OutputRef& output, const Port& port) {
  const auto elements = static_cast<size_t>(result.elements());
  const bool wide = output.dtype == DType::F64 && is_float(port.type.dtype);
  if ((output.dtype != port.type.dtype && !wide) ||
      output.bytes != elements * dtype_bytes(output.dtype)) {
    return output_size_failure(port, elements * dtype_bytes(port.type.dtype), output);
  }
  if (output.dtype == result.dtype()) {
    if (output.bytes != 0) std::memcpy(output.data, result.data(), output.bytes);
    return {};
  }
  Array rounded = Array::zeros(output.dtype, result.sizes());
  for (int64_t index = 0; index < result.elements(); ++index) {
    rounded.set(index, result.f64_at(index));
  }
  if (output.bytes != 0) std::memcpy(output.data, rounded.data(), output.bytes);
  return {};
}

Failure Executable::symbol_conflict(const Port& port, const std::string& symbol, int64_t known,
                                    int64_t found) {
  return fail("symbol-conflict",
              symbol + " is " + std::to_string(known) + " in one input and " +
                  std::to_string(found) + " in another",
              "input '" + port.name + "'", "give inputs that agree in this extent");
}

Status Executable::check_output_count(std::span<const OutputRef> outputs) const {
  if (outputs.size() == outputs_.size()) return {};
  return fail("output-count", "the graph has " + std::to_string(outputs_.size()) +
                                  " outputs, the run was given " + std::to_string(outputs.size()));
}

Failure Executable::output_size_failure(const Port& port, size_t bytes, const OutputRef& output) {
  return fail("output-size",
              "the output takes " + std::to_string(bytes) + " bytes of " +
                  std::string(dtype_name(port.type.dtype)) + ", the run was given " +
                  std::to_string(output.bytes) + " of " + std::string(dtype_name(output.dtype)),
              "output '" + port.name + "'", "give a buffer of the output's size");
}

Result<DimBindings> Executable::bind(std::span<const InputRef> inputs) const {
  CAPRA_TRY(check_inputs(inputs));
  DimBindings bindings;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const Port& port = inputs_[index];
    for (size_t axis = 0; axis < inputs[index].sizes.size(); ++axis) {
      const Dim& dim = port.type.shape.dims()[axis];
      if (dim.is_static()) continue;
      const int64_t size = inputs[index].sizes[axis];
      const auto [known, added] = bindings.emplace(dim.symbol(), size);
      if (known->second != size) return symbol_conflict(port, dim.symbol(), known->second, size);
    }
  }
  return bindings;
}

Result<std::vector<Array>> Executable::run(Workspace& workspace,
                                           std::span<const InputRef> inputs) const {
  std::vector<DType> dtypes;
  dtypes.reserve(outputs_.size());
  for (const Port& port : outputs_) dtypes.push_back(port.type.dtype);
  return run_into(workspace, inputs, dtypes);
}

Result<std::vector<Array>> Executable::run_unrounded(Workspace& workspace,
                                                     std::span<const InputRef> inputs) const {
  std::vector<DType> dtypes;
  dtypes.reserve(outputs_.size());
  for (size_t index = 0; index < outputs_.size(); ++index) dtypes.push_back(computed_dtype(index));
  return run_into(workspace, inputs, dtypes);
}

Result<std::vector<Array>> Executable::run_into(Workspace& workspace,
                                                std::span<const InputRef> inputs,
                                                std::span<const DType> dtypes) const {
  CAPRA_ASSIGN(const DimBindings bindings, bind(inputs));
  std::vector<Array> results;
  std::vector<OutputRef> refs;
  for (size_t index = 0; index < outputs_.size(); ++index) {
    CAPRA_ASSIGN(Shape shape, outputs_[index].type.shape.bind(bindings));
    const TensorType type{dtypes[index], std::move(shape)};
    if (!fits_memory(type)) return out_of_memory();
    try {
      results.push_back(Array::zeros(type.dtype, type.shape.sizes()));
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }
  refs.reserve(results.size());
  for (Array& result : results) refs.emplace_back(result);
  CAPRA_TRY(run(workspace, inputs, refs));
  return results;
}

}  // namespace capra
