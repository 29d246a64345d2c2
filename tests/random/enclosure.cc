// Interval arithmetic on the oracle's own ops: ends of intervals are tensors of the oracle.
#include "tests/random/enclosure.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/convert.h"
#include "tests/random/primitives.h"

namespace capra::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Floats: low and high in f64, NaN where nothing is known. Others: the value in low, and known.
struct Value {
  Array low = {};
  Array high = {};
  Array known = {};
};

Array all_known(const Array& like, bool value) {
  Array known = Array::zeros(DType::Bool, like.sizes());
  for (int64_t i = 0; i < known.elements(); ++i) known.set_i64(i, value ? 1 : 0);
  return known;
}

double largest(DType dtype) {
  if (dtype == DType::F16) return 65504;
  return dtype == DType::F64 ? std::numeric_limits<double>::max() : 3.38e38;
}

double unit_of(DType dtype, double value) {
  int digits = 53;
  int least = -1074;
  if (dtype == DType::F32) digits = 24, least = -149;
  if (dtype == DType::F16) digits = 11, least = -24;
  if (dtype == DType::BF16) digits = 8, least = -133;
  if (value == 0) return std::ldexp(1.0, least);
  return std::ldexp(1.0, std::max(std::ilogb(value) - digits + 1, least));
}

class Encloser {
 public:
  Encloser(const GraphData& data, OpBounds bounds)
      : data_(data), bounds_(bounds), context_(interp_context(&data.parameters)) {}

  std::vector<Enclosure> run(const Graph& graph) {
    std::vector<Value> values(static_cast<size_t>(graph.size()));
    std::vector<Enclosure> outputs;
    size_t next_input = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      std::vector<const Value*> operands;
      for (const NodeId operand : node.operands) {
        operands.push_back(&values[static_cast<size_t>(operand)]);
      }
      if (node.op == &kOutput) {
        const Value& value = *operands[0];
        outputs.push_back({node.type.dtype, value.low, value.high, value.known});
      } else if (node.op == &kInput) {
        values[static_cast<size_t>(id)] = exact(interp_array(data_.inputs[next_input++]));
      } else if (node.op == &kParameter) {
        const std::string path = node.attrs_as<ParameterAttrs>().path;
        values[static_cast<size_t>(id)] = exact(interp_array(data_.parameters.at(path)));
      } else {
        attrs_ = node.attrs;
        values[static_cast<size_t>(id)] = compute(node, operands);
        mark(values[static_cast<size_t>(id)], node.type.dtype);
      }
    }
    for (Enclosure& output : outputs) {
      if (!is_float(output.dtype)) continue;
      for (int64_t i = 0; i < output.low.elements(); ++i) {
        const double width = output.high.f64_at(i) - output.low.f64_at(i);
        output.known.set_i64(i, std::isfinite(width) ? 1 : 0);
      }
    }
    return outputs;
  }

 private:
  using Operands = std::span<const Value* const>;
  using Ends = std::function<std::pair<double, double>(double, double)>;

  static Value exact(const Array& array) { return {array, array, all_known(array, true)}; }

  // The op on these arrays, as the oracle does it.
  Array oracle(const OpDef& op, std::span<const Array> arrays) const {
    std::vector<Tensor> tensors;
    for (const Array& array : arrays) tensors.push_back(Tensor::of_data(context_, array));
    return apply(op, tensors, attrs_, context_).array();
  }
  Array oracle(const OpDef& op, std::initializer_list<Array> arrays) const {
    return oracle(op, std::span<const Array>(arrays.begin(), arrays.size()));
  }

  static bool is_movement(std::string_view op) {
    constexpr std::string_view kMoves[] = {"broadcast", "concat", "permute", "reshape", "slice"};
    return std::ranges::find(kMoves, op) != std::end(kMoves);
  }

  Value compute(const Node& node, Operands operands) {
    const OpDef& op = *node.op;
    const DType dtype = node.type.dtype;
    if (operands.empty()) return exact(oracle(op, {}));
    if (is_movement(op.name)) return moved(op, operands, {});
    if (op.name == "gather") {
      const bool sure = every(operands[1]->known);
      return sure ? moved(op, operands.first(1), operands[1]->low) : unknown(node, operands);
    }
    if (op.name == "select") return selected(operands, dtype);
    if (op.name == "compare") return compared(node, operands);
    if (op.name == "convert") return converted(operands, dtype);
    if (op.name == "argmax") return greatest_index(node, operands);
    if (!is_float(dtype)) return whole(op, operands);
    if (op.name == "matmul") return product(op, operands, dtype);
    if (op.name == "sum") {
      Array magnitudes = mapped(*operands[0], [](double low, double high) {
                           const double most = std::max(std::abs(low), std::abs(high));
                           return std::pair(most, most);
                         }).low;
      Value sums{oracle(op, {operands[0]->low}), oracle(op, {operands[0]->high}), {}};
      return widened(std::move(sums), oracle(op, {magnitudes}), dtype);
    }
    if (op.name == "max") {
      return {oracle(op, {operands[0]->low}), oracle(op, {operands[0]->high}), {}};
    }
    if (op.name == "maximum" || op.name == "minimum") {
      return {oracle(op, {operands[0]->low, operands[1]->low}),
              oracle(op, {operands[0]->high, operands[1]->high}),
              {}};
    }
    if (op.name == "neg" || op.name == "abs") {
      return mapped(*operands[0], [&](double low, double high) {
        if (op.name == "neg") return std::pair(-high, -low);
        if (low >= 0) return std::pair(low, high);
        if (high <= 0) return std::pair(-high, -low);
        return std::pair(0.0, std::max(-low, high));
      });
    }
    Value ends = operands.size() == 2 ? corners(op, operands) : monotone(op, *operands[0]);
    Array magnitudes = mapped(ends, [](double low, double high) {
                         const double most = std::max(std::abs(low), std::abs(high));
                         return std::pair(most, most);
                       }).low;
    return widened(std::move(ends), magnitudes, dtype);
  }

  static bool every(const Array& known) {
    for (int64_t i = 0; i < known.elements(); ++i) {
      if (known.i64_at(i) == 0) return false;
    }
    return true;
  }

  // Nothing is known of any element.
  Value unknown(const Node& node, Operands operands) const {
    std::vector<Array> arrays;
    for (const Value* one : operands) arrays.push_back(one->low);
    if (node.op->name == "gather") {  // any index there is
      arrays[1] = Array::zeros(arrays[1].dtype(), arrays[1].sizes());
    }
    const Array like = oracle(*node.op, arrays);
    if (!is_float(node.type.dtype)) return {like, like, all_known(like, false)};
    Array nothing = Array::zeros(DType::F64, like.sizes());
    for (int64_t i = 0; i < nothing.elements(); ++i) nothing.set(i, kNan);
    return {nothing, nothing, all_known(like, true)};
  }

  Value moved(const OpDef& op, Operands operands, const Array& indices) const {
    const auto part = [&](Array Value::* member) {
      std::vector<Array> arrays;
      for (const Value* one : operands) arrays.push_back(one->*member);
      if (indices) arrays.push_back(indices);
      return oracle(op, arrays);
    };
    return {part(&Value::low), part(&Value::high), part(&Value::known)};
  }

  static Value mapped(const Value& x, const Ends& function) {
    Value result{
        Array::zeros(DType::F64, x.low.sizes()), Array::zeros(DType::F64, x.low.sizes()), {}};
    for (int64_t i = 0; i < x.low.elements(); ++i) {
      auto [low, high] = function(x.low.f64_at(i), x.high.f64_at(i));
      if (std::isnan(x.low.f64_at(i)) || std::isnan(x.high.f64_at(i))) low = high = kNan;
      result.low.set(i, low);
      result.high.set(i, high);
    }
    return result;
  }

  // exp, log, sqrt, tanh and erf rise, erfc falls.
  Value monotone(const OpDef& op, const Value& x) const {
    Value result{oracle(op, {x.low}), oracle(op, {x.high}), {}};
    if (op.name == "erfc") std::swap(result.low, result.high);
    return result;
  }

  // add, sub, mul, div: the extremes are among the pairs of ends.
  Value corners(const OpDef& op, Operands operands) const {
    const Value& a = *operands[0];
    const Value& b = *operands[1];
    const Array all[] = {oracle(op, {a.low, b.low}), oracle(op, {a.low, b.high}),
                         oracle(op, {a.high, b.low}), oracle(op, {a.high, b.high})};
    Value result{
        Array::zeros(DType::F64, all[0].sizes()), Array::zeros(DType::F64, all[0].sizes()), {}};
    Array pole;  // where the divisor may be 0
    if (op.name == "div") {
      const Value straddles = mapped(b, [](double low, double high) {
        const double is_pole = low <= 0 && high >= 0 ? 1 : 0;
        return std::pair(is_pole, is_pole);
      });
      Array zero = Array::zeros(DType::F64, a.low.sizes());
      const OpDef& add = *find_op(interp_primitives(), "add");
      pole = oracle(add, {zero, straddles.low});
    }
    for (int64_t i = 0; i < result.low.elements(); ++i) {
      double low = all[0].f64_at(i);
      double high = low;
      bool is_known = !std::isnan(low) && !(pole && pole.f64_at(i) != 0);
      for (const Array& one : all) {
        is_known = is_known && !std::isnan(one.f64_at(i));
        low = std::min(low, one.f64_at(i));
        high = std::max(high, one.f64_at(i));
      }
      result.low.set(i, is_known ? low : kNan);
      result.high.set(i, is_known ? high : kNan);
    }
    return result;
  }

  // Around the middles, radii add up: |a| rb + ra |b| + ra rb.
  Value product(const OpDef& op, Operands operands, DType dtype) const {
    const auto middle = [](const Value& x) {
      return mapped(x,
                    [](double low, double high) {
                      return std::pair(low / 2 + high / 2, low / 2 + high / 2);
                    })
          .low;
    };
    const auto radius = [](const Value& x) {
      return mapped(x,
                    [](double low, double high) {
                      return std::pair(high / 2 - low / 2, high / 2 - low / 2);
                    })
          .low;
    };
    const auto magnitude = [](const Array& x) {
      Array result = Array::zeros(DType::F64, x.sizes());
      for (int64_t i = 0; i < x.elements(); ++i) result.set(i, std::abs(x.f64_at(i)));
      return result;
    };
    const Array a = middle(*operands[0]);
    const Array b = middle(*operands[1]);
    const Array ra = radius(*operands[0]);
    const Array rb = radius(*operands[1]);
    const Array center = oracle(op, {a, b});
    const Array parts[] = {oracle(op, {magnitude(a), rb}), oracle(op, {ra, magnitude(b)}),
                           oracle(op, {ra, rb})};
    const Array scale = oracle(op, {magnitude(a), magnitude(b)});
    Value result{
        Array::zeros(DType::F64, center.sizes()), Array::zeros(DType::F64, center.sizes()), {}};
    Array magnitudes = Array::zeros(DType::F64, center.sizes());
    for (int64_t i = 0; i < center.elements(); ++i) {
      double spread = 0;
      for (const Array& part : parts) spread += std::abs(part.f64_at(i));
      result.low.set(i, center.f64_at(i) - spread);
      result.high.set(i, center.f64_at(i) + spread);
      magnitudes.set(i, std::abs(scale.f64_at(i)) + spread);
    }
    return widened(std::move(result), magnitudes, dtype);
  }

  Value widened(Value value, const Array& magnitudes, DType dtype) const {
    const OpBound bound = bounds_(dtype);
    for (int64_t i = 0; i < value.low.elements(); ++i) {
      const double magnitude = magnitudes.f64_at(i);
      double error = bound.absolute + bound.relative * magnitude;
      if (bound.units > 0 && std::isfinite(magnitude)) {
        error += bound.units * unit_of(dtype, magnitude);
      }
      value.low.set(i, value.low.f64_at(i) - error);
      value.high.set(i, value.high.f64_at(i) + error);
    }
    return value;
  }

  // Integers and bools: as the oracle, known where all elements that take part are.
  Value whole(const OpDef& op, Operands operands) const {
    std::vector<Array> arrays;
    for (const Value* one : operands) arrays.push_back(one->low);
    const Array result = oracle(op, arrays);
    Array known = all_known(result, true);
    const bool sure =
        std::ranges::all_of(operands, [](const Value* one) { return every(one->known); });
    if (!sure && !pointwise_known(op, operands, known)) known = all_known(result, false);
    return {result, result, known};
  }

  // Of elementwise ops: where each operand is known. False for others.
  bool pointwise_known(const OpDef& op, Operands operands, Array& known) const {
    constexpr std::string_view kOver[] = {"matmul", "max", "sum"};
    if (std::ranges::find(kOver, op.name) != std::end(kOver)) return false;
    const OpDef& both = *find_op(interp_primitives(), "logical_and");
    const Attrs none;
    for (const Value* one : operands) {
      const Tensor a = Tensor::of_data(context_, known);
      const Tensor b = Tensor::of_data(context_, one->known);
      known = apply(both, {a, b}, none, context_).array();
    }
    return true;
  }

  Value selected(Operands operands, DType dtype) const {
    const OpDef& select = *find_op(interp_primitives(), "select");
    const auto choose = [&](Array Value::* member) {
      return oracle(select, {operands[0]->low, operands[1]->*member, operands[2]->*member});
    };
    Value result{choose(&Value::low), choose(&Value::high), choose(&Value::known)};
    const Array sure = expand_known(operands);
    if (every(sure)) return result;
    // Where the condition is not known, anything between the two.
    const auto always = [&](size_t operand, Array Value::* member) {
      const Array condition = all_known(operands[0]->low, operand == 1);
      return oracle(select, {condition, operands[1]->*member, operands[2]->*member});
    };
    const Array ends[] = {always(1, &Value::low), always(2, &Value::low), always(1, &Value::high),
                          always(2, &Value::high)};
    for (int64_t i = 0; i < result.low.elements(); ++i) {
      if (sure.i64_at(i) != 0) continue;
      if (!is_float(dtype)) {
        result.known.set_i64(i, 0);
        continue;
      }
      double low = ends[0].f64_at(i);
      double high = low;
      for (const Array& end : ends) {
        if (std::isnan(end.f64_at(i))) low = high = kNan;
        low = std::min(low, end.f64_at(i));
        high = std::max(high, end.f64_at(i));
      }
      result.low.set(i, low);
      result.high.set(i, high);
    }
    return result;
  }

  // Whether the condition is known, in the shape of the result.
  Array expand_known(Operands operands) const {
    const OpDef& both = *find_op(interp_primitives(), "logical_and");
    Array known = operands[0]->known;
    for (const Value* one : {operands[1], operands[2]}) {
      const Tensor a = Tensor::of_data(context_, known);
      const Tensor b = Tensor::of_data(context_, all_known(one->low, true));
      known = apply(both, {a, b}, Attrs(), context_).array();
    }
    return known;
  }

  Value compared(const Node& node, Operands operands) const {
    const Array result = oracle(*node.op, {operands[0]->low, operands[1]->low});
    Array known = all_known(result, true);
    if (!is_float(operands[0]->low.dtype())) {
      pointwise_known(*node.op, operands, known);
      return {result, result, known};
    }
    // Known where no choice of ends gives another answer, and intervals of eq do not overlap.
    const Array others[] = {oracle(*node.op, {operands[0]->low, operands[1]->high}),
                            oracle(*node.op, {operands[0]->high, operands[1]->low}),
                            oracle(*node.op, {operands[0]->high, operands[1]->high})};
    Attrs less = attrs_;
    less[0] = std::string("lt");
    const auto below = [&](const Array& a, const Array& b) {
      const Tensor left = Tensor::of_data(context_, a);
      const Tensor right = Tensor::of_data(context_, b);
      return apply(*node.op, {left, right}, less, context_).array();
    };
    const Array left = below(operands[0]->high, operands[1]->low);
    const Array right = below(operands[1]->high, operands[0]->low);
    const Array wide_a = below(operands[0]->low, operands[0]->high);
    const Array wide_b = below(operands[1]->low, operands[1]->high);
    const OpDef& either = *find_op(interp_primitives(), "logical_or");
    const Array wide =
        apply(either, {Tensor::of_data(context_, wide_a), Tensor::of_data(context_, wide_b)},
              Attrs(), context_)
            .array();
    const bool is_order =
        std::get<std::string>(attrs_[0]) != "eq" && std::get<std::string>(attrs_[0]) != "ne";
    for (int64_t i = 0; i < result.elements(); ++i) {
      bool same = true;
      for (const Array& one : others) same = same && one.i64_at(i) == result.i64_at(i);
      const bool apart = left.i64_at(i) != 0 || right.i64_at(i) != 0;
      const bool is_known = apart || wide.i64_at(i) == 0 || (is_order && same);
      known.set_i64(i, is_known ? 1 : 0);
    }
    return not_of_nan(std::move(known), result, operands);
  }

  // A comparison with what is not known is not known.
  Value not_of_nan(Array known, const Array& result, Operands operands) const {
    for (const Value* one : operands) {
      const Value finite = mapped(*one, [](double, double) { return std::pair(0.0, 0.0); });
      Attrs equal = attrs_;
      equal[0] = std::string("eq");
      const OpDef& compare = *find_op(interp_primitives(), "compare");
      const OpDef& both = *find_op(interp_primitives(), "logical_and");
      const Tensor x = Tensor::of_data(context_, finite.low);
      const Array is_number = apply(compare, {x, x}, equal, context_).array();
      known = apply(both, {Tensor::of_data(context_, known), Tensor::of_data(context_, is_number)},
                    Attrs(), context_)
                  .array();
    }
    return {result, result, known};
  }

  Value converted(Operands operands, DType dtype) const {
    const OpDef& convert = kConvert;
    const Value& x = *operands[0];
    Value result{oracle(convert, {x.low}), oracle(convert, {x.high}), x.known};
    const bool from_float = is_float(x.low.dtype());
    for (int64_t i = 0; i < x.low.elements(); ++i) {
      if (is_float(dtype)) {
        if (from_float || x.known.i64_at(i) != 0) continue;
        result.low.set(i, kNan);
        result.high.set(i, kNan);
      } else if (from_float) {
        const double low = x.low.f64_at(i);
        const double high = x.high.f64_at(i);
        const bool over_zero = dtype == DType::Bool && low < 0 && high > 0;
        const bool is_known = !std::isnan(low) && !std::isnan(high) && !over_zero &&
                              result.low.i64_at(i) == result.high.i64_at(i);
        result.known.set_i64(i, is_known ? 1 : 0);
      }
    }
    if (!is_float(dtype) || !from_float) return result;
    // The oracle takes no narrowing step where a decomposition has one of its own.
    for (int64_t i = 0; i < x.low.elements(); ++i) {
      result.low.set(i, std::min(x.low.f64_at(i), result.low.f64_at(i)));
      result.high.set(i, std::max(x.high.f64_at(i), result.high.f64_at(i)));
    }
    return result;
  }

  // Known where the greatest is above all others by more than is open.
  Value greatest_index(const Node& node, Operands operands) const {
    const Value& x = *operands[0];
    const Array result = oracle(*node.op, {x.low});
    const bool is_exact = !is_float(x.low.dtype()) ? every(x.known) : x.low == x.high;
    const bool has_nan =
        is_float(x.low.dtype()) &&
        std::ranges::any_of(x.low.as<double>(), [](double one) { return std::isnan(one); });
    return {result, result, all_known(result, is_exact && !has_nan)};
  }

  // What is beyond the dtype, or no number, is not known.
  static void mark(Value& value, DType dtype) {
    if (!is_float(dtype)) return;
    value.known = all_known(value.low, true);
    for (int64_t i = 0; i < value.low.elements(); ++i) {
      const double low = value.low.f64_at(i);
      const double high = value.high.f64_at(i);
      if (std::abs(low) <= largest(dtype) && std::abs(high) <= largest(dtype)) continue;
      value.low.set(i, kNan);
      value.high.set(i, kNan);
    }
  }

  const GraphData& data_;
  OpBounds bounds_;
  Context context_;
  Attrs attrs_;
};

}  // namespace

std::vector<Enclosure> enclose(const Graph& graph, const GraphData& data, OpBounds bounds) {
  return Encloser(data, bounds).run(in_primitives(with_numbers(graph, data)));
}

}  // namespace capra::testing
