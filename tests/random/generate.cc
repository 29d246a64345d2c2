// Each step draws an op, operands and attributes; what the record refuses is drawn again.
#include "tests/random/generate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/abs.h"
#include "capra/ops/add.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/constant.h"
#include "capra/ops/maximum.h"
#include "capra/ops/minimum.h"
#include "tests/support/sequence.h"

namespace capra::testing {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kMostElements = 600;
// The parameter `index7_0` holds indices below 7.
constexpr std::string_view kIndexName = "index";

class Grower {
 public:
  explicit Grower(uint64_t seed)
      : random_(seed), bindings_(bindings_of(seed)), graph_("random" + number_text(seed)) {
    dtype_ = random_.chance(2) ? DType::F32 : any_dtype();
    const bool symbolic = seed % 2 == 0;
    for (int i = 0; i < 3; ++i) {
      constexpr int64_t kExtents[] = {1, 2, 3, 3, 4, 5, 7, 0};
      const int64_t size = kExtents[random_.below(random_.chance(4) ? 8 : 7)];
      dims_.push_back(symbolic && random_.chance(2) ? Dim(random_.chance(2) ? "m" : "n")
                                                    : Dim(size));
    }
  }

  Graph grow() {
    const int64_t inputs = 2 + random_.below(3);
    for (int64_t i = 0; i < inputs; ++i) {
      const DType dtype = random_.chance(3) ? any_dtype() : dtype_;
      const TensorType type{dtype, drawn_shape()};
      const DimBindings before = bound_;
      for (const Dim& dim : type.shape.dims()) {
        if (!dim.is_static()) bound_.insert(*bindings_.find(dim.symbol()));
      }
      if (!fits(type)) {
        bound_ = before;
        continue;
      }
      values_.push_back(graph_.append({.op = &kInput,
                                       .operands = {},
                                       .attrs = pack(InputAttrs{"x" + number_text(i), type}),
                                       .type = type}));
    }
    if (values_.empty()) values_.push_back(number(1.5, DType::F32));
    const int64_t steps = 4 + random_.below(10);
    for (int64_t i = 0; i < steps; ++i) step();
    std::vector<NodeId> seen{values_.back()};
    for (int64_t i = random_.below(4); i > 0; --i) seen.push_back(any());
    for (size_t i = 0; i < seen.size(); ++i) {
      const std::string name = "output" + number_text(i);
      graph_.append_call(kOutput, {seen[i]}, pack(OutputAttrs{name})).value_or_throw();
    }
    return std::move(graph_);
  }

 private:
  DType any_dtype() {
    const std::span<const DType> all = all_dtypes();
    return all[static_cast<size_t>(random_.below(static_cast<int64_t>(all.size())))];
  }

  // Aligned to the right like the others, so that shapes broadcast.
  Shape drawn_shape() {
    const int64_t rank = random_.below(4);
    std::vector<Dim> dims(dims_.end() - rank, dims_.end());
    for (Dim& dim : dims) {
      if (random_.chance(5)) dim = Dim(1);
    }
    return Shape(std::move(dims));
  }

  // Small enough, and without a symbol that no input has.
  bool fits(const TensorType& type) const {
    const Result<Shape> bound = type.shape.bind(bound_);
    return bound.ok() && type.shape.rank() <= 5 &&
           bound->elements().value_or(kMostElements + 1) <= kMostElements;
  }

  const TensorType& type(NodeId id) const { return graph_.node(id).type; }

  NodeId any() {
    // Later values are likelier, so that graphs are deep.
    const auto count = static_cast<int64_t>(values_.size());
    const int64_t back = random_.below(random_.chance(2) ? std::min<int64_t>(count, 3) : count);
    return values_[static_cast<size_t>(count - 1 - back)];
  }

  // One of this dtype, if a few tries find one.
  NodeId any_of(DType dtype) {
    for (int i = 0; i < 6; ++i) {
      const NodeId id = any();
      if (type(id).dtype == dtype) return id;
    }
    return any();
  }

  NodeId append(const OpDef& op, std::vector<NodeId> operands, Attrs attrs = {}) {
    return graph_.append_call(op, std::move(operands), std::move(attrs)).value_or_throw();
  }

  NodeId number(double value, DType dtype) {
    return append(kConstant, {}, pack(ConstantAttrs{Array::scalar(dtype, value)}));
  }

  NodeId parameter(std::string_view name, const TensorType& type) {
    const std::string path = std::string(name) + "_" + number_text(parameters_++);
    return graph_.append({.op = &kParameter,
                          .operands = {},
                          .attrs = pack(ParameterAttrs{path, type}),
                          .type = type});
  }

  void step() {
    const OpSet ops = all_ops();
    for (int tries = 0; tries < 40; ++tries) {
      const OpDef& op = *ops[static_cast<size_t>(random_.below(static_cast<int64_t>(ops.size())))];
      for (int again = 0; again < 6; ++again) {
        if (call(op)) return;
      }
    }
  }

  bool call(const OpDef& op) {
    std::vector<NodeId> operands = draw_operands(op);
    const TensorType first = operands.empty() ? TensorType() : type(operands[0]);
    Attrs attrs = op.attrs.defaults();
    if (!complete(op, operands, attrs)) return false;
    for (size_t i = 0; i < attrs.size(); ++i) {
      if (!std::holds_alternative<TensorType>(attrs[i])) {
        draw_attribute(op, op.attrs.fields[i].name, first, attrs[i]);
      }
    }
    const auto refused = [&] {
      const Result<TensorType> result = infer_type(op, operand_types(graph_, operands), attrs);
      return !result.ok() || !fits(*result);
    };
    if (refused()) return false;
    if (!random_.chance(8)) operands = tamed(op, std::move(operands));
    if (refused()) return false;
    values_.push_back(append(op, std::move(operands), std::move(attrs)));
    return true;
  }

  std::vector<NodeId> draw_operands(const OpDef& op) {
    std::vector<NodeId> operands;
    for (const Operand& operand : op.operands) {
      if (operand.arity == Arity::Optional) break;
      const bool is_condition = operand.name == "condition";
      const DType dtype = is_condition                                 ? DType::Bool
                          : operands.empty() || op.operands.size() > 2 ? dtype_
                                                                       : type(operands[0]).dtype;
      operands.push_back(random_.chance(12) && operands.empty() ? any() : any_of(dtype));
      if (operand.arity != Arity::Variadic) continue;
      while (operands.size() < 3 && random_.chance(2)) {
        operands.push_back(any_of(type(operands[0]).dtype));
      }
    }
    return operands;
  }

  Dim last(NodeId id, int64_t back = 1) const {
    const Shape& shape = type(id).shape;
    return shape[shape.rank() - back];
  }

  // Operands that hardly meet by chance: weights, indices, the parts of attention. False where the
  // first operand does not serve.
  bool complete(const OpDef& op, std::vector<NodeId>& operands, Attrs& attrs) {
    if (operands.empty()) return true;
    const TensorType x = type(operands[0]);
    const int64_t rank = x.shape.rank();
    if (op.name == "matmul" && !random_.chance(4)) {
      if (rank < 2) return false;
      const bool turned = random_.chance(2);
      const Dim k = last(operands[0]);
      if (!k.is_static()) return false;
      attrs[static_cast<size_t>(attr_index(op.attrs, "transpose_b"))] = turned;
      operands[1] = parameter("weight", {x.dtype, turned ? Shape{3, k} : Shape{k, 3}});
    } else if (op.name == "linear") {
      if (rank < 1 || !last(operands[0]).is_static()) return false;
      operands[1] = parameter("weight", {x.dtype, {4, last(operands[0])}});
      if (random_.chance(2)) operands.push_back(parameter("bias", {x.dtype, {4}}));
    } else if (op.name == "layer_norm") {
      if (rank < 1 || !last(operands[0]).is_static()) return false;
      operands.resize(1);
      if (random_.chance(2)) operands.push_back(parameter("gamma", {x.dtype, {last(operands[0])}}));
      if (operands.size() == 2 && random_.chance(2)) {
        operands.push_back(parameter("beta", {x.dtype, {last(operands[0])}}));
      }
    } else if (op.name == "gather") {
      if (rank < 1) return false;
      const int64_t axis = random_.below(rank);
      const Dim& extent = x.shape[axis];
      if (!extent.is_static() || extent.size() == 0) return false;
      attrs[static_cast<size_t>(attr_index(op.attrs, "axis"))] = axis;
      constexpr DType kIndices[] = {DType::I32, DType::I64, DType::U8};
      const DType dtype = kIndices[random_.below(3)];
      const Shape shape = random_.chance(3) ? Shape{} : Shape{1 + random_.below(4)};
      operands[1] = parameter(std::string(kIndexName) + number_text(extent.size()), {dtype, shape});
    } else if (op.name == "attention") {
      if (!is_float(x.dtype)) return false;
      const int64_t keys = 1 + random_.below(4);
      const int64_t kv_heads = 1 + random_.below(2);
      const int64_t heads = kv_heads * (1 + random_.below(2));
      operands = {parameter("query", {x.dtype, {1 + random_.below(4), heads, 3}}),
                  parameter("key", {x.dtype, {keys, kv_heads, 3}}),
                  parameter("value", {x.dtype, {keys, kv_heads, 2}})};
      if (random_.chance(2)) {
        operands.insert(operands.end(), {kAbsent, kAbsent, parameter("mask", {x.dtype, {keys}})});
      }
    }
    return true;
  }

  // The same op on operands between bounds, or away from a pole.
  std::vector<NodeId> tamed(const OpDef& op, std::vector<NodeId> operands) {
    const auto within = [&](NodeId x, double limit) {
      const NodeId above = append(kMaximum, {x, number(-limit, type(x).dtype)});
      return append(kMinimum, {above, number(limit, type(x).dtype)});
    };
    const auto positive = [&](NodeId x) {
      const NodeId magnitude = append(kAbs, {x});
      return append(kAdd, {magnitude, number(0.5, type(x).dtype)});
    };
    if (operands.empty() || operands[0] == kAbsent || !is_float(type(operands[0]).dtype)) {
      return operands;
    }
    if (op.name == "exp" || op.name == "mul") operands[0] = within(operands[0], 3);
    if (op.name == "log" || op.name == "sqrt" || op.name == "rsqrt") {
      operands[0] = positive(operands[0]);
    }
    if (op.name == "div") operands[1] = positive(operands[1]);
    return operands;
  }

  void draw_attribute(const OpDef& op, std::string_view name, const TensorType& x,
                      AttrValue& value) {
    const int64_t rank = x.shape.rank();
    if (auto* flag = std::get_if<bool>(&value)) {
      if (name != "transpose_b") *flag = random_.chance(3);
    } else if (name == "axis") {
      if (rank > 0 && op.name != "gather") value = random_.below(2 * rank) - rank;
    } else if (name == "axes") {
      value = op.name == "permute" ? permutation(rank) : some_axes(rank);
    } else if (name == "dtype") {
      value = any_dtype();
    } else if (name == "direction") {
      constexpr const char* kDirections[] = {"lt", "le", "gt", "ge", "eq", "ne"};
      value = std::string(kDirections[random_.below(6)]);
    } else if (name == "factor" && random_.chance(2)) {
      value = 0.125;
    } else if (name == "eps" && random_.chance(2)) {
      value = 1e-3;
    } else if (name == "shape") {
      value = op.name == "reshape"     ? reshaped(x.shape)
              : op.name == "broadcast" ? widened(x.shape)
                                       : static_shape();
    } else if (name == "starts") {
      starts_.clear();
      for (int64_t i = 0; i < rank; ++i) {
        const Dim& dim = x.shape[i];
        starts_.push_back(dim.is_static() && dim.size() > 1 ? random_.below(2) : 0);
      }
      value = starts_;
    } else if (name == "limits") {
      std::vector<Dim> limits = x.shape.dims();
      for (Dim& dim : limits) {
        if (dim.is_static() && dim.size() > 2 && random_.chance(3)) dim = Dim(dim.size() - 1);
      }
      value = Shape(std::move(limits));
    } else if (name == "strides") {
      Ints strides;
      for (int64_t i = 0; i < rank; ++i) {
        strides.push_back(x.shape[i].is_static() ? 1 + random_.below(2) : 1);
      }
      value = random_.chance(2) ? Ints() : strides;
    } else if (std::holds_alternative<Array>(value)) {
      value = drawn_array();
    }
  }

  Ints permutation(int64_t rank) {
    Ints axes;
    for (int64_t i = 0; i < rank; ++i) axes.insert(axes.begin() + random_.below(i + 1), i);
    return axes;
  }

  Ints some_axes(int64_t rank) {
    Ints axes;
    for (int64_t i = 0; i < rank; ++i) {
      if (random_.chance(2)) axes.push_back(random_.chance(3) ? i - rank : i);
    }
    return axes;
  }

  Shape static_shape() {
    std::vector<Dim> dims;
    for (int64_t i = random_.below(3); i >= 0; --i) dims.emplace_back(1 + random_.below(4));
    return Shape(std::move(dims));
  }

  // Static neighbours joined, extents of 1 put in or left out, a factor of 2 split off.
  Shape reshaped(const Shape& shape) {
    std::vector<Dim> dims;
    for (const Dim& dim : shape.dims()) {
      const bool joins = !dims.empty() && dims.back().is_static() && dim.is_static();
      if (joins && random_.chance(2)) {
        dims.back() = Dim(dims.back().size() * dim.size());
      } else if (dim != Dim(1) || random_.chance(2)) {
        dims.push_back(dim);
      }
      if (random_.chance(5)) dims.emplace_back(1);
    }
    if (!dims.empty() && dims.back().is_static() && dims.back().size() % 2 == 0) {
      dims.back() = Dim(dims.back().size() / 2);
      dims.insert(dims.begin() + random_.below(static_cast<int64_t>(dims.size()) + 1), Dim(2));
    }
    return Shape(std::move(dims));
  }

  Shape widened(const Shape& shape) {
    std::vector<Dim> dims = shape.dims();
    for (size_t i = 0; i < dims.size(); ++i) {
      const size_t from_right = dims.size() - i;
      if (dims[i] == Dim(1) && from_right <= dims_.size())
        dims[i] = dims_[dims_.size() - from_right];
    }
    if (random_.chance(2)) dims.insert(dims.begin(), Dim(2));
    return Shape(std::move(dims));
  }

  Array drawn_array() {
    Array array = Array::zeros(random_.chance(3) ? any_dtype() : dtype_, drawn_sizes());
    for (int64_t i = 0; i < array.elements(); ++i) array.set(i, random_.number());
    return array;
  }

  Ints drawn_sizes() {
    Ints sizes;
    const Shape shape = drawn_shape();
    for (const Dim& dim : shape.dims()) sizes.push_back(dim.is_static() ? dim.size() : 1);
    return sizes;
  }

  Random random_;
  DimBindings bindings_;
  DimBindings bound_;  ///< those of symbols that an input has
  Graph graph_;
  DType dtype_ = DType::F32;
  std::vector<Dim> dims_;  ///< that shapes are made of
  std::vector<NodeId> values_;
  Ints starts_;
  int64_t parameters_ = 0;
};

// The bound in the name of a parameter of indices, or nothing.
std::optional<int64_t> index_bound(std::string_view name) {
  if (!name.starts_with(kIndexName)) return std::nullopt;
  name.remove_prefix(kIndexName.size());
  return parse_i64(name.substr(0, name.find('_')));
}

Array drawn(std::string_view name, const TensorType& type, const DimBindings& bindings,
            uint64_t seed) {
  // Of the name, so that other inputs do not matter.
  for (const char c : name) seed = seed * 31 + static_cast<unsigned char>(c);
  Random random(seed);
  const std::optional<int64_t> bound = index_bound(name);
  Array array = Array::zeros(type.dtype, type.shape.bind(bindings).value_or_throw().sizes());
  for (int64_t i = 0; i < array.elements(); ++i) {
    if (bound) {
      array.set_i64(i, random.below(*bound));
    } else if (is_float(type.dtype)) {
      array.set(i, random.number());
    } else {
      const bool is_signed = is_signed_integer(type.dtype);
      array.set_i64(
          i, type.dtype == DType::Bool ? random.below(2) : random.below(9) - (is_signed ? 4 : 0));
    }
  }
  return array;
}

}  // namespace

Graph generate_graph(uint64_t seed) { return Grower(seed).grow(); }

DimBindings bindings_of(uint64_t seed) {
  Random random(seed ^ 0x5bd1e995);
  constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 6, 7, 0};
  const int64_t most = random.chance(4) ? 8 : 7;
  const int64_t m = kExtents[random.below(most)];
  return {{"m", m}, {"n", kExtents[random.below(7)]}};
}

GraphData data_of(const Graph& graph, const DimBindings& bindings, uint64_t seed) {
  GraphData data;
  for (const NodeId id : graph.inputs()) {
    const auto input = graph.node(id).attrs_as<InputAttrs>();
    data.inputs.push_back(drawn(input.name, input.type, bindings, seed));
  }
  for (const NodeId id : graph.parameters()) {
    const auto parameter = graph.node(id).attrs_as<ParameterAttrs>();
    data.parameters.emplace(parameter.path, drawn(parameter.path, parameter.type, bindings, seed));
  }
  return data;
}

}  // namespace capra::testing
