// The oracle against values from outside: each record's examples, and tables named at the test.
#include "capra/interp/interp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"

// Sanitizers stop at an allocation that can only fail, unless told to let it fail.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "allocator_may_return_null=1";
}
extern "C" const char* __tsan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "allocator_may_return_null=1";
}

namespace capra {
namespace {

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

// mpmath 1.3, 50 digits, rounded to f64. The bound is that of the C library, a unit or two in the
// last place, and what the argument's own rounding adds where a function is steep. The sums inside
// gelu cancel at the left: there a few units of x are lost.
TEST(Interp, FunctionsAgreeWithMpmath) {
  struct Row {
    const char* op;
    const char* attrs;
    const char* x;
    const char* result;
  };
  const Row rows[] = {
      {"exp", "", "f64[5] [1e-10, -0.75, 3.3, -700.5, 709.7]",
       "f64[5] [1.0000000001, 0.4723665527410147, 27.112638920657883, 5.980196118639791e-305, "
       "1.6549840276802644e+308]"},
      {"log", "", "f64[5] [1e-300, 0.3, 1.0000001, 7.5, 1e300]",
       "f64[5] [-690.7755278982137, -1.2039728043259361, 9.999999505838704e-08, "
       "2.0149030205422647, 690.7755278982137]"},
      {"tanh", "", "f64[5] [1e-09, -0.4, 1.7, 9, -20]",
       "f64[5] [1e-09, -0.3799489622552249, 0.935409070603099, 0.999999969540041, -1]"},
      {"erf", "", "f64[6] [1e-09, -0.3, 0.84375, 1.9, -3.2, 5.5]",
       "f64[6] [1.1283791670955127e-09, -0.3286267594591274, 0.7672256612323416, "
       "0.9927904292352575, -0.9999939742388483, 0.9999999999999927]"},
      {"erfc", "", "f64[6] [-1.5, 0.2, 1.25, 5, 10, 26.5]",
       "f64[6] [1.9661051464753108, 0.7772974107895215, 0.07709987174354177, "
       "1.537459794428035e-12, 2.088487583762545e-45, 2.2109076642637343e-307]"},
      {"sqrt", "", "f64[3] [2, 1e-310, 12345.678]",
       "f64[3] [1.4142135623730951, 9.999999999999986e-156, 111.11110655555547]"},
      {"rsqrt", "", "f64[3] [0.3, 2, 10000000000]",
       "f64[3] [1.8257418583505538, 0.7071067811865476, 1e-05]"},
      {"gelu", "approximate = false", "f64[7] [-8, -5.5, -2.5, -0.1, 0.3, 1, 4.4]",
       "f64[7] [-4.976768459417427e-15, -1.0444259356238245e-07, -0.015524163314440337, "
       "-0.0460172162722971, 0.1853734266566858, 0.8413447460685429, 4.399976184806807]"},
      {"gelu", "approximate = true", "f64[5] [-3, -2.701, -0.5, 0.7, 2.701]",
       "f64[5] [-0.003637392081773019, -0.00886295511688808, -0.15428599017485609, "
       "0.5305701347051167, 2.692137044883112]"},
      {"silu", "", "f64[4] [-20, -1.3, 0.4, 6]",
       "f64[4] [-4.122307236380407e-08, -0.2784145220446738, 0.2394750640449808, "
       "5.985164261060191]"},
      {"sigmoid", "", "f64[4] [-40, -1.3, 0.4, 30]",
       "f64[4] [4.248354255291589e-18, 0.2141650169574414, 0.598687660112452, "
       "0.9999999999999064]"},
  };
  for (const Row& row : rows) {
    const Array found = array_of(eval(row.op, {row.x}, row.attrs));
    const Array wanted = array_of(row.result);
    for (int64_t i = 0; i < wanted.elements(); ++i) {
      const double loss = std::string_view(row.op) == "gelu" ? 1e-16 : 0.0;
      const double bound =
          3e-14 * std::fabs(wanted.f64_at(i)) + loss * std::fabs(array_of(row.x).f64_at(i));
      EXPECT_LE(std::fabs(found.f64_at(i) - wanted.f64_at(i)), bound)
          << row.op << " of element " << i << " of " << row.x;
    }
  }
}

TEST(Interp, NanInfinityAndSignedZeros) {
  EXPECT_EQ(eval("erf", {"f64[4] [inf, -inf, -0, nan]"}), "f64[4] [1, -1, -0, nan]");
  EXPECT_EQ(eval("erfc", {"f64[3] [inf, -inf, 0]"}), "f64[3] [0, 2, 1]");
  EXPECT_EQ(eval("log", {"f64[4] [0, inf, 1, -0]"}), "f64[4] [-inf, inf, 0, -inf]");
  EXPECT_EQ(eval("max", {"f64[3] [-0, 0, -0]"}), "f64 0");
  EXPECT_EQ(eval("max", {"f64[2, 0] []"}, "axes = [1]"), "f64[2] [-inf, -inf]");
  EXPECT_EQ(eval("max", {"i8[0] []"}), "i8 -128");
  EXPECT_EQ(eval("argmax", {"f64[5] [1, nan, inf, nan, 0]"}), "i64 1");
  EXPECT_EQ(eval("argmax", {"f64[2] [-0, 0]"}), "i64 0");
  EXPECT_EQ(eval("div", {"i32[2] [-2147483648, 7]", "i32[2] [-1, 0]"}), "i32[2] [-2147483648, 0]");
  EXPECT_EQ(eval("neg", {"f64[2] [0, -0]"}), "f64[2] [-0, 0]");
}

TEST(Interp, FloatsAreHeldAsF64AndRoundWhereTheGraphSaysSo) {
  // 0.1 in f32 is not 0.1; a product of two f32 needs more than f32 holds and keeps it.
  const Array product =
      run("graph @g { %x = input : f32[]\n %y = mul %x %x\n output %y }", {"f32 0.1"});
  EXPECT_EQ(product.dtype(), DType::F64);
  EXPECT_EQ(product.f64_at(0), static_cast<double>(0.1f) * static_cast<double>(0.1f));
  const Array rounded =
      run("graph @g { %x = input : f32[]\n %y = mul %x %x\n %z = convert %y {dtype = bf16}\n"
          "%w = convert %z {dtype = f32}\n output %w }",
          {"f32 0.1"});
  EXPECT_EQ(rounded.f64_at(0), 0x1.48p-7);  // 0.01000977, the nearest bf16 to 0.01
  // Decompositions run at f64: their constants are not rounded to the graph's f32.
  const Array gelu =
      run("graph @g { %x = input : f32[]\n %y = gelu %x {approximate = false}\n output %y }",
          {"f32 1"});
  EXPECT_NEAR(gelu.f64_at(0), 0.8413447460685429, 2e-16);  // Phi(1)
  EXPECT_EQ(eval("iota", {}, "dtype = bf16, shape = [259]").substr(0, 8), "f64[259]");
}

TEST(Interp, IotaAndConstantRoundToTheirDtype) {
  const Context context = interp_context();
  const OpDef* iota = find_op(all_ops(), "iota");
  const Attrs attrs = parse_attrs("dtype = bf16, shape = [260]", iota->attrs).value_or_throw();
  const Array counted = apply(*iota, {}, attrs, context).array();
  EXPECT_EQ(counted.f64_at(256), 256);
  EXPECT_EQ(counted.f64_at(257), 256);  // a tie, to even
  EXPECT_EQ(counted.f64_at(259), 260);
  EXPECT_EQ(eval("iota", {}, "dtype = u8, shape = [2, 2], axis = 0"), "u8[2, 2] [[0, 0], [1, 1]]");
  EXPECT_EQ(eval("constant", {}, "value = f32 0.1"), "f64 0.10000000149011612");
}

TEST(Interp, SymbolsGroupsParametersAndSeveralOutputs) {
  const std::string_view text =
      "graph @g { %x = input : f32[tokens, 2]\n %w = parameter {path = \"w\"} : f16[2]\n"
      "%v = convert %w {dtype = f32}\n"
      "%s = group %x %v {label = \"scaled\"} body { %a = input : f32[tokens, 2]\n"
      "  %b = input : f32[2]\n %c = mul %a %b\n"
      "  %d = reshape %c {shape = [2, tokens]}\n output %d }\n"
      "%r = slice %x {starts = [0, 1], limits = [tokens, 2]}\n"
      "output %s\n output %r }";
  const Parameters parameters = {{"w", array_of("f16[2] [2, -1]")}};
  const std::vector<Array> inputs = {array_of("f32[3, 2] [[1, 2], [3, 4], [5, 6]]")};
  const Result<std::vector<Array>> outputs = interpret(graph_of(text), inputs, parameters);
  ASSERT_TRUE(outputs.ok()) << to_text(outputs.error());
  ASSERT_EQ(outputs->size(), 2u);
  EXPECT_EQ(print_array((*outputs)[0]), "f64[2, 3] [[2, -2, 6], [-4, 10, -6]]");
  EXPECT_EQ(print_array((*outputs)[1]), "f64[3, 1] [[2], [4], [6]]");
}

TEST(Interp, RefusesWhatDoesNotFit) {
  const Graph graph = graph_of(
      "graph @g { %x = input : f32[tokens]\n %i = input : i32[tokens]\n"
      "%w = parameter {path = \"w\"} : f32[3]\n %y = gather %w %i\n %z = mul %x %y\n output %z }");
  const Parameters parameters = {{"w", array_of("f32[3] [1, 2, 3]")}};
  const auto code = [&](std::vector<std::string_view> texts, const Parameters& given) {
    std::vector<Array> inputs;
    for (const std::string_view text : texts) inputs.push_back(array_of(text));
    const Result<std::vector<Array>> outputs = interpret(graph, inputs, given);
    return outputs.ok() ? print_array(outputs->front()) : outputs.error().code;
  };
  EXPECT_EQ(code({"f32[2] [5, 7]", "i32[2] [2, 0]"}, parameters), "f64[2] [15, 7]");
  EXPECT_EQ(code({"f64[2] [5, 7]", "i32[2] [2, 0]"}, parameters), "f64[2] [15, 7]");
  EXPECT_EQ(code({"f32[2] [5, 7]", "i32[2] [3, 0]"}, parameters), "index-out-of-range");
  EXPECT_EQ(code({"f32[2] [5, 7]", "i32[2] [-1, 0]"}, parameters), "index-out-of-range");
  EXPECT_EQ(code({"f32[2] [5, 7]", "i64[2] [1, 0]"}, parameters), "input-type");
  EXPECT_EQ(code({"f16[2] [5, 7]", "i32[2] [1, 0]"}, parameters), "input-type");
  EXPECT_EQ(code({"f32[2] [5, 7]", "i32[1] [1]"}, parameters), "symbol-conflict");
  EXPECT_EQ(code({"f32[2] [5, 7]"}, parameters), "input-count");
  EXPECT_EQ(code({"f32[2] [5, 7]", "i32[2] [2, 0]"}, {}), "parameter-missing");
  EXPECT_EQ(code({"f32[2] [5, 7]", "i32[2] [2, 0]"}, {{"w", array_of("f64[3] [1, 2, 3]")}}),
            "parameter-type");
}

TEST(Interp, AttentionRefusesNumbersThatCutNoSequences) {
  const Graph graph = graph_of(
      "graph @g { %q = input : f32[3, 1, 2]\n %o = input : i32[s]\n %l = input : i32[n]\n"
      "%y = attention %q %q %q %o %l\n output %y }");
  const auto code = [&](std::string_view offsets, std::string_view lengths) {
    const Array inputs[] = {array_of("f32[3, 1, 2] [[[1, 0]], [[0, 2]], [[1, -1]]]"),
                            array_of(offsets), array_of(lengths)};
    const Result<std::vector<Array>> outputs = interpret(graph, inputs, {});
    return outputs.ok() ? "" : outputs.error().code;
  };
  EXPECT_EQ(code("i32[3] [0, 2, 3]", "i32[2] [2, 7]"), "");
  for (const char* offsets : {"i32[3] [1, 2, 3]", "i32[3] [0, 2, 4]", "i32[3] [0, 2, 2]",
                              "i32[3] [0, 4, 3]", "i32[3] [0, -1, 3]", "i32[0] []"}) {
    EXPECT_EQ(code(offsets, "i32[2] [1, 1]"),
              std::string_view(offsets) == "i32[0] []" ? "operand-shape" : "offsets-invalid")
        << offsets;
  }
  EXPECT_EQ(code("i32[3] [0, 2, 3]", "i32[2] [2, -1]"), "key-lengths-invalid");
  EXPECT_EQ(code("i32[3] [0, 2, 3]", "i32[3] [2, 1, 1]"), "operand-shape");
}

TEST(Interp, OfNothingNothingIsRead) {
  const Graph graph = graph_of(
      "graph @g { %x = input : f32[n, m]\n %i = input : i32[k]\n %y = gather %x %i {axis = 1}\n"
      "output %y }");
  Array x = Array::zeros(DType::F32, {int64_t{1} << 40, 0});
  const Array inputs[] = {std::move(x), Array::zeros(DType::I32, {0})};
  const Result<std::vector<Array>> outputs = interpret(graph, inputs, {});
  ASSERT_TRUE(outputs.ok()) << to_text(outputs.error());
  EXPECT_EQ(outputs->front().sizes(), (std::vector<int64_t>{int64_t{1} << 40, 0}));
}

// Products and sums of 1/i are inexact in every step, so any other order would show.
TEST(Interp, ThreadsDoNotChangeResults) {
  const Graph graph = graph_of(
      "graph @g { %a = input : f64[3, 150, 70]\n %b = input : f64[200, 70]\n"
      "%c = matmul %a %b {transpose_b = true, factor = 0.3}\n %d = softmax %c\n"
      "%e = layer_norm %d\n %f = sum %e {axes = [0, 2]}\n output %c\n output %e\n output %f }");
  const auto filled = [](std::vector<int64_t> sizes, double scale) {
    Array array = Array::zeros(DType::F64, std::move(sizes));
    double next = 0;
    for (double& element : array.mutable_as<double>()) element = scale / ++next;
    return array;
  };
  const std::vector<Array> inputs = {filled({3, 150, 70}, 100), filled({200, 70}, 30)};
  const auto computed = [&](int threads) {
    return interpret(graph, inputs, {}, std::make_shared<ThreadPool>(threads)).value_or_throw();
  };
  const std::vector<Array> one = computed(1);
  for (const int threads : {2, 3, 8}) EXPECT_TRUE(computed(threads) == one) << threads;
}

TEST(Interp, MoreThanTheMemoryIsADiagnostic) {
  const Graph graph = graph_of(
      "graph @g { %x = iota {dtype = u8, shape = [1000000000000000]}\n"
      "output %x }");
  const Result<std::vector<Array>> outputs = interpret(graph, {}, {});
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.error().code, "out-of-memory");
}

TEST(Interp, AnUnboundDimIsRefusedByName) {
  const OpDef* iota = find_op(all_ops(), "iota");
  const Attrs attrs = parse_attrs("dtype = i32, shape = [tokens]", iota->attrs).value_or_throw();
  try {
    apply(*iota, {}, attrs, interp_context());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().code, "symbol-unbound");
  }
}

}  // namespace
}  // namespace capra
