// The trace sink: one entry a call, in program order.
#include "capra/ir/tape.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "capra/ir/structural_ops.h"

namespace capra {

bool operator==(const Note& a, const Note& b) {
  if (a.name != b.name || a.value.index() != b.value.index()) return false;
  const auto* x = std::get_if<double>(&a.value);
  const auto* y = std::get_if<double>(&b.value);
  if (x == nullptr) return a.value == b.value;
  return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y);
}

bool operator==(const TapeEntry& a, const TapeEntry& b) {
  return a.op == b.op && a.operands == b.operands && attrs_equal(a.attrs, b.attrs) &&
         a.type == b.type && a.path == b.path && a.notes == b.notes;
}

TraceSink::TraceSink(std::string name) { tape_.name = std::move(name); }

Context TraceSink::begin(std::string name) {
  return Context(std::make_shared<TraceSink>(std::move(name)));
}

Tensor TraceSink::record(const Context& self, TapeEntry entry) {
  if (!scopes_.empty()) entry.path = scopes_.back();
  TensorType type = entry.type;
  tape_.entries.push_back(std::move(entry));
  return Tensor::of_value(self, std::move(type), static_cast<int32_t>(tape_.entries.size() - 1));
}

Tensor TraceSink::input(const Context& self, std::string_view name, const TensorType& type) {
  return record(self, {&kInput, {}, pack(InputAttrs{std::string(name), type}), type, {}});
}

void TraceSink::output(const Tensor& value, std::string_view name) {
  if (!value || &value.context().sink() != this) {
    throw Error({"context-mixed",
                 "output '" + std::string(name) + "' is no tensor of this trace",
                 {},
                 "make all tensors of one computation in one context"});
  }
  record(value.context(),
         {&kOutput, {value.value()}, pack(OutputAttrs{std::string(name)}), value.type(), {}});
}

Tensor TraceSink::parameter(const Context& self, std::string_view path, TensorType type) {
  const auto known = std::ranges::find(parameters_, path, &std::pair<std::string, int32_t>::first);
  if (known != parameters_.end()) {
    const TapeEntry& entry = tape_.entries[static_cast<size_t>(known->second)];
    if (entry.type != type) {
      throw Error({"parameter-type",
                   "parameter is used as " + type.text() + " and as " + entry.type.text(),
                   std::string(path)});
    }
    return Tensor::of_value(self, std::move(type), known->second);
  }
  Tensor tensor =
      record(self, {&kParameter, {}, pack(ParameterAttrs{std::string(path), type}), type, {}});
  parameters_.emplace_back(path, tensor.value());
  return tensor;
}

Tensor TraceSink::apply(const Context& self, const OpDef& op, std::span<const Tensor> operands,
                        Attrs attrs, TensorType result) {
  std::vector<int32_t> values;
  values.reserve(operands.size());
  for (const Tensor& operand : operands) values.push_back(operand.value());
  return record(self, {&op, std::move(values), std::move(attrs), std::move(result), {}});
}

void TraceSink::enter_scope(std::string_view name) {
  scopes_.push_back(scopes_.empty() ? std::string(name) : scopes_.back() + "." + std::string(name));
}

void TraceSink::leave_scope() { scopes_.pop_back(); }

}  // namespace capra
