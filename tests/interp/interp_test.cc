// The oracle against values from outside: each record's examples, and tables named at the test.
#include "capra/interp/interp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"

namespace capra {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Array array_of(std::string_view text) {
  Result<Array> array = parse_array(text);
  EXPECT_TRUE(array.ok()) << (array.ok() ? "" : to_text(array.error()));
  return array.ok() ? *array : Array::zeros(DType::F64, {});
}

Graph graph_of(std::string_view text) {
  Result<Graph> graph = parse_graph(text, all_ops());
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : to_text(graph.error()));
  return graph.ok() ? *graph : Graph();
}

// The first output of a graph text on array texts.
Array run(std::string_view graph, std::initializer_list<std::string_view> inputs,
          const Parameters& parameters = {}) {
  std::vector<Array> arrays;
  for (const std::string_view input : inputs) arrays.push_back(array_of(input));
  Result<std::vector<Array>> outputs = interpret(graph_of(graph), arrays, parameters);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : to_text(outputs.error()));
  return outputs.ok() ? outputs->front() : Array::zeros(DType::F64, {});
}

// One op on f64 operands, as text.
std::string eval(std::string_view op, std::initializer_list<std::string_view> operands,
                 std::string_view attrs = "") {
  const OpDef* record = find_op(all_ops(), op);
  const Context context = interp_context();
  std::vector<Tensor> tensors;
  for (const std::string_view operand : operands) {
    tensors.push_back(operand == "_" ? Tensor()
                                     : Tensor::of_data(context, interp_array(array_of(operand))));
  }
  const Attrs values = parse_attrs(attrs, record->attrs).value_or_throw();
  return print_array(apply(*record, tensors, values, context).array());
}

void expect_near(const Array& found, const Array& wanted, double relative,
                 const std::string& what) {
  ASSERT_EQ(found.type(), wanted.type()) << what;
  for (int64_t i = 0; i < found.elements(); ++i) {
    const double f = found.f64_at(i);
    const double w = wanted.f64_at(i);
    if (std::isnan(w)) {
      EXPECT_TRUE(std::isnan(f)) << what << " [" << i << "] is " << f;
    } else if (std::isinf(w) || w == 0 || !is_float(wanted.dtype())) {
      EXPECT_EQ(f, w) << what << " [" << i << "]";
      EXPECT_EQ(std::signbit(f), std::signbit(w)) << what << " [" << i << "]";
    } else {
      EXPECT_LE(std::fabs(f - w), relative * std::max(std::fabs(w), 1e-3))
          << what << " [" << i << "]: " << f << " and " << w;
    }
  }
}

TEST(Interp, HoldsExactlyTheOpsWithoutADecomposition) {
  std::vector<std::string> needed;
  for (const OpDef* op : all_ops()) {
    if (op->decompose == nullptr) needed.emplace_back(op->name);
  }
  std::vector<std::string> held;
  for (const OpDef* op : interp_primitives()) held.emplace_back(op->name);
  EXPECT_EQ(held, needed);
}

// Sources stand in the records.
TEST(Interp, GivesTheExamplesOfEveryRecord) {
  int examples = 0;
  for (const OpDef* op : all_ops()) {
    for (const Example& example : op->examples) {
      const std::string what = std::string(op->name) + " {" + std::string(example.attrs) + "}";
      const Context context = interp_context();
      std::vector<Tensor> operands;
      for (const std::string_view operand : example.operands) {
        operands.push_back(
            operand == "_" ? Tensor() : Tensor::of_data(context, interp_array(array_of(operand))));
      }
      const Attrs attrs = parse_attrs(example.attrs, op->attrs).value_or_throw();
      const Tensor result = apply(*op, operands, attrs, context);
      expect_near(result.array(), interp_array(array_of(example.result)), 1e-14, what);
      ++examples;
    }
  }
  EXPECT_GT(examples, 100);
}

}  // namespace
}  // namespace capra
