// Rows of the cpu, op by op: the examples of every record (whose values come from outside), types
// by widening, operands with strides, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "capra/interp/interp.h"
#include "capra/ir/text.h"
#include "capra/ops/abs.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/attention.h"
#include "capra/ops/concat.h"
#include "capra/ops/convert.h"
#include "capra/ops/gather.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/linear.h"
#include "capra/ops/matmul.h"
#include "capra/ops/permute.h"
#include "capra/ops/relu.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "capra/ops/softmax.h"
#include "capra/ops/sum.h"
#include "capra/targets/cpu/ops.h"
#include "tests/targets/cpu/encoder_case.h"

namespace capra {
namespace {

using testing::Random;
using testing::value_of;

Array random(DType dtype, std::vector<int64_t> sizes, uint64_t seed) {
  Random numbers(seed);
  Array array = Array::zeros(dtype, std::move(sizes));
  for (int64_t i = 0; i < array.elements(); ++i) {
    array.set(i, is_float(dtype) ? numbers.signed_unit() : std::floor(8.0 * numbers.signed_unit()));
  }
  return array;
}

Context cpu_context(int threads = 1) {
  return cpu::kTarget.eager(nullptr, std::make_shared<ThreadPool>(threads));
}

// ulps of the format at `value`.
double ulp(double value, DType dtype) {
  const int digits = dtype == DType::F64   ? 53
                     : dtype == DType::F32 ? 24
                     : dtype == DType::F16 ? 11
                                           : 8;
  if (value == 0) return std::ldexp(1.0, -20 - digits);
  return std::ldexp(1.0, std::ilogb(value) + 1 - digits);
}

// Near in the sense of the record: its ulps, or its absolute bound, in the dtype that was computed
// in.
void expect_near(const Array& found, const Array& expected, const OpDef& op, DType compute) {
  ASSERT_EQ(found.sizes(), expected.sizes()) << op.name;
  const double scale = compute == DType::F64 ? 0x1p-29 : 1;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double want = expected.f64_at(i);
    const double have = found.f64_at(i);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(have)) << op.name << " element " << i;
      continue;
    }
    if (want == have) continue;
    const double bound = std::max((op.accuracy.max_ulp + 1) * ulp(want, found.dtype()),
                                  op.accuracy.max_abs * scale) +
                         2e-16 + (compute == DType::F32 ? 2e-7 : 0);
    EXPECT_LE(std::abs(want - have), bound)
        << op.name << " element " << i << ": " << have << ", expected " << want;
  }
}

bool is_16_bit(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

// An example with its f64 arrays in another float dtype; false if that dtype cannot hold them.
bool recast(Array& array, DType to) {
  if (array.dtype() != DType::F64) return true;
  Array copy = Array::zeros(to, array.sizes());
  for (int64_t i = 0; i < array.elements(); ++i) {
    copy.set(i, array.f64_at(i));
    const double back = copy.f64_at(i);
    const double want = array.f64_at(i);
    if (back != want && !std::isnan(want)) return false;
  }
  array = copy;
  return true;
}

// Every op of the list has examples with values from named outside sources.
TEST(CpuRows, ExamplesOfEveryRecord) {
  const Context context = cpu_context();
  for (const OpDef* op : all_ops()) {
    int ran = 0;
    for (const Example& example : op->examples) {
      for (const DType dtype : {DType::F64, DType::F32}) {
        std::vector<Tensor> operands;
        bool fits = true;
        for (const std::string_view text : example.operands) {
          if (text == "_") {
            operands.emplace_back();
            continue;
          }
          Array array = value_of(parse_array(text));
          fits = fits && recast(array, dtype);
          operands.push_back(Tensor::of_data(context, array));
        }
        // An f64 example whose operands an f32 cannot hold says nothing about f32.
        if (!fits) continue;
        if (dtype == DType::F32 && example.attrs.find("f64") != std::string_view::npos) continue;
        const Attrs attrs = value_of(parse_attrs(example.attrs, op->attrs));
        const Array expected = value_of(parse_array(example.result));
        const Array found = apply(*op, operands, attrs, context).array();
        expect_near(found, expected, *op, is_16_bit(found.dtype()) ? found.dtype() : dtype);
        ++ran;
      }
    }
    EXPECT_GT(ran, 0) << op->name << " has no example that runs";
  }
}

TEST(CpuRows, EveryOpHasARow) {
  for (const OpDef* op : all_ops()) EXPECT_TRUE(cpu::kOpTable.names(*op)) << op->name;
}

// 16-bit floats: the f32 op on the widened operands, rounded once.
TEST(CpuRows, SixteenBitFloatsWidenAndRoundOnce) {
  const Context context = cpu_context(2);
  const auto make = [&](DType dtype, std::vector<int64_t> sizes, uint64_t seed) {
    return Tensor::of_data(context, random(dtype, std::move(sizes), seed));
  };
  const Array offsets = Array::of<int32_t>(DType::I32, {3}, std::vector<int32_t>{0, 3, 9});
  for (const DType dtype : {DType::F16, DType::BF16}) {
    const Tensor x = make(dtype, {5, 70}, 1);
    const Tensor w = make(dtype, {33, 70}, 2);
    const Tensor b = make(dtype, {33}, 3);
    const Tensor q = make(dtype, {9, 2, 8}, 4);
    const Tensor k = make(dtype, {9, 2, 8}, 5);
    const Tensor v = make(dtype, {9, 2, 8}, 6);
    const Tensor at = Tensor::of_data(context, offsets);
    const auto wide = [](const Tensor& t) { return convert(t, DType::F32); };
    const auto same = [&](const Tensor& narrow, const Tensor& wide_result, const char* what) {
      EXPECT_TRUE(narrow.array() == convert(wide_result, dtype).array()) << what;
    };
    same(linear(x, w, b), linear(wide(x), wide(w), wide(b)), "linear");
    same(matmul(x, w, {.transpose_b = true, .factor = 0.3}),
         matmul(wide(x), wide(w), {.transpose_b = true, .factor = 0.3}), "matmul");
    same(attention(q, k, v, at), attention(wide(q), wide(k), wide(v), at), "attention");
    same(softmax(x), softmax(wide(x)), "softmax");
    same(layer_norm(x), layer_norm(wide(x)), "layer_norm");
    same(sum(x, {.axes = {1}}), sum(wide(x), {.axes = {1}}), "sum");
  }
}

// Attention on f64 against the oracle, which computes the decomposition.
TEST(CpuRows, AttentionOnF64IsTheDefinition) {
  const Array q = random(DType::F64, {20, 4, 70}, 1);
  const Array k = random(DType::F64, {20, 2, 70}, 2);
  const Array v = random(DType::F64, {20, 2, 9}, 3);
  const Array offsets = Array::of<int32_t>(DType::I32, {4}, std::vector<int32_t>{0, 13, 13, 20});
  const Array lengths = Array::of<int32_t>(DType::I32, {3}, std::vector<int32_t>{10, 0, 0});
  const Array mask = random(DType::F64, {20, 20}, 4);
  for (const bool causal : {false, true}) {
    for (const bool masked : {false, true}) {
      const auto compute = [&](const Context& context) {
        const auto tensor = [&](const Array& array) { return Tensor::of_data(context, array); };
        return attention(tensor(q), tensor(k), tensor(v), tensor(offsets), tensor(lengths),
                         masked ? tensor(mask) : Tensor(), {.causal = causal})
            .array();
      };
      const Array found = compute(cpu_context(3));
      const Array expected = compute(interp_context());
      ASSERT_EQ(found.sizes(), expected.sizes());
      for (int64_t i = 0; i < found.elements(); ++i) {
        EXPECT_NEAR(found.f64_at(i), expected.f64_at(i), 1e-14) << i;
      }
    }
  }
}

// An f32 attention with its mask per head, against the oracle within the record's bound.
TEST(CpuRows, AttentionTakesMasksByHeadQueryAndKey) {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {3, 17, 17}, {1, 17, 17}, {3, 1, 17}, {3, 17, 1}, {17}, {1}}) {
    const auto compute = [&](const Context& context, bool wide) {
      // The oracle holds floats as f64.
      const auto tensor = [&](const Array& array) {
        return Tensor::of_data(context, wide ? interp_array(array) : array);
      };
      const Array offsets = Array::of<int32_t>(DType::I32, {3}, std::vector<int32_t>{0, 5, 17});
      return attention(tensor(random(DType::F32, {17, 3, 16}, 1)),
                       tensor(random(DType::F32, {17, 3, 16}, 2)),
                       tensor(random(DType::F32, {17, 3, 16}, 3)), tensor(offsets), Tensor(),
                       tensor(random(DType::F32, shape, 4)))
          .array();
    };
    const Array found = compute(cpu_context(2), false);
    const Array expected = compute(interp_context(), true);
    for (int64_t i = 0; i < found.elements(); ++i) {
      EXPECT_NEAR(found.f64_at(i), expected.f64_at(i), 4e-6) << i;
    }
  }
}

// A compiled graph in which every reader of a slice has strides to cope with.
TEST(CpuRows, StridedOperandsGiveTheBitsOfCopies) {
  const Array x = random(DType::F32, {6, 40}, 1);
  const Array w = random(DType::F32, {10, 12}, 2);
  const Array small = random(DType::F32, {6, 12}, 3);
  Parameters parameters{{"w", w}, {"narrow", random(DType::F32, {4, 3}, 4)}};
  Context context = TraceSink::begin("strided");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor input = sink.input(context, "x", {DType::F32, {"rows", 40}});
  const Tensor other = sink.input(context, "y", {DType::F32, {"rows", 12}});
  const Tensor weight = sink.parameter(context, "w", {DType::F32, {10, 12}});
  const Tensor narrow = sink.parameter(context, "narrow", {DType::F32, {4, 3}});
  const Tensor doubled = input + input;
  const auto columns = [&](int64_t from, int64_t to) {
    return slice(doubled, {.starts = {0, from}, .limits = Shape{"rows", to}, .strides = {1, 1}});
  };
  // Each reader has a slice of its own: one that needs a copy would make it for all.
  const auto part = [&] { return columns(5, 17); };
  sink.output(linear(part(), weight), "linear");
  sink.output(part() + other, "add");
  sink.output(softmax(part()), "softmax");
  sink.output(sum(part(), {.axes = {0}}), "sum");
  sink.output(permute(part(), {1, 0}), "permute");
  sink.output(reshape(part(), {"rows", 3, 4}), "reshape");
  sink.output(softmax(reshape(part(), {"rows", 3, 4})), "softmax of a reshape");
  // One column of each head: no row of it lies in one piece.
  const Tensor thirds = reshape(columns(0, 24), {"rows", 3, 8});
  const Tensor column = reshape(
      slice(thirds, {.starts = {0, 0, 1}, .limits = Shape{"rows", 3, 2}, .strides = {1, 1, 1}}),
      {"rows", 3});
  sink.output(relu(linear(column, narrow)), "column of heads");
  const std::vector<Tensor> both{part(), other};
  sink.output(concat(both, 1), "concat");
  sink.output(matmul(part(), part(), {.transpose_b = true}), "matmul");
  const Tensor heads = reshape(columns(16, 40), {"rows", 3, 8});
  sink.output(attention(heads, heads, heads), "attention");
  sink.output(slice(doubled, {.starts = {1, 0}, .limits = Shape{4, 40}, .strides = {2, 3}}),
              "steps");
  const Graph graph = build_graph(sink.take_tape());
  const std::vector<Array> inputs{x, small};
  const auto eager = testing::run_eager(cpu::kTarget, graph, parameters, inputs);
  ASSERT_EQ(eager.size(), 12U);
  for (const bool optimize : {false, true}) {
    const auto compiled =
        testing::run_compiled(cpu::kTarget, graph, parameters, inputs, 2, optimize);
    ASSERT_EQ(compiled.size(), eager.size());
    for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(eager[i] == compiled[i]) << i;
  }
}

// 16-bit operands are widened first, which takes them row by row.
TEST(CpuRows, ColumnsOfA16BitProductAreReadWhereTheyLie) {
  for (const DType dtype : {DType::F16, DType::BF16}) {
    Context context = TraceSink::begin("qkv");
    auto& sink = static_cast<TraceSink&>(context.sink());
    const Tensor x = sink.input(context, "x", {dtype, {"rows", 24}});
    const auto heads = [&](int64_t from) {
      return reshape(
          slice(x, {.starts = {0, from}, .limits = Shape{"rows", from + 8}, .strides = {1, 1}}),
          {"rows", 2, 4});
    };
    sink.output(attention(heads(0), heads(8), heads(16)), "y");
    const Graph graph = build_graph(sink.take_tape());
    const std::vector<Array> inputs{random(dtype, {5, 24}, 7)};
    const auto eager = testing::run_eager(cpu::kTarget, graph, {}, inputs);
    for (const bool optimize : {false, true}) {
      const auto compiled = testing::run_compiled(cpu::kTarget, graph, {}, inputs, 2, optimize);
      ASSERT_EQ(compiled.size(), 1U);
      EXPECT_TRUE(eager[0] == compiled[0]) << dtype_name(dtype) << optimize;
    }
  }
}

// A graph text may give an operand of a group two roles.
TEST(CpuRows, AnOperandInTwoRolesIsNotPackedAway) {
  const char* texts[] = {
      R"(graph @g {
        %a = parameter {path = "a"} : f32[4, 4]
        %g = group %a {label = "linear_activation"} : f32[4, 4] body @b {
          %p = input : f32[4, 4]
          %l = linear %p %p
          %r = relu %l
          output %r
        }
        output %g })",
      R"(graph @g {
        %x = input : f32[4, 4]
        %a = parameter {path = "a"} : f32[4, 4]
        %g = group %x %a {label = "linear_add"} : f32[4, 4] body @b {
          %p = input : f32[4, 4]
          %w = input : f32[4, 4]
          %l = linear %p %w
          %r = add %l %w
          output %r
        }
        output %g })"};
  const Array a = random(DType::F32, {4, 4}, 5);
  const Parameters parameters{{"a", a}};
  for (const char* text : texts) {
    const Graph graph = value_of(parse_graph(text, all_ops(), "text"));
    const std::vector<Array> inputs(graph.inputs().size(), a);
    const auto eager = testing::run_eager(cpu::kTarget, graph, parameters, inputs);
    const auto compiled = testing::run_compiled(cpu::kTarget, graph, parameters, inputs, 1, false);
    ASSERT_EQ(compiled.size(), 1U);
    EXPECT_TRUE(eager[0] == compiled[0]) << text;
  }
}

TEST(CpuRows, MoreDimsThanARunHasAreRefused) {
  const Context context = cpu_context();
  const std::vector<int64_t> ones(kMaxRunRank + 1, 1);
  const Tensor x = Tensor::of_data(context, Array::zeros(DType::F32, ones));
  const std::vector<std::function<void()>> calls = {[&] { sum(x); }, [&] { abs(x); }};
  for (const auto& call : calls) {
    try {
      call();
      FAIL() << "ran";
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostic().code, "rank-unsupported");
    }
  }
}

// A result may take the place of an operand only if nothing else of the step looks at it.
TEST(CpuRows, OverwritingNeverChangesAnotherOperand) {
  const Parameters parameters{{"w", random(DType::F32, {12, 12}, 1)}};
  Context context = TraceSink::begin("overwrite");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor input = sink.input(context, "x", {DType::F32, {"rows", 12}});
  const Tensor weight = sink.parameter(context, "w", {DType::F32, {12, 12}});
  const auto fresh = [&](double factor) { return input * factor; };
  const Tensor a = fresh(1.5);
  sink.output(abs(linear(a, weight) + a), "linear");
  const Tensor b = fresh(2.5);
  const Tensor row = slice(b, {.starts = {2, 0}, .limits = Shape{3, 12}, .strides = {1, 1}});
  sink.output(abs(b + row), "row");
  const Tensor c = fresh(3.5);
  sink.output(abs(c + c), "twice");
  const Tensor d = fresh(4.5);
  const Tensor sum_of_d = abs(d);
  sink.output(abs(sum_of_d + input), "sum");
  const Graph graph = build_graph(sink.take_tape());
  for (const int64_t rows : {3, 40}) {
    const std::vector<Array> inputs{random(DType::F32, {rows, 12}, 5)};
    const auto eager = testing::run_eager(cpu::kTarget, graph, parameters, inputs);
    for (const bool optimize : {false, true}) {
      EXPECT_EQ(testing::run_compiled(cpu::kTarget, graph, parameters, inputs, 2, optimize), eager);
    }
  }
}

// Batched products, each operand transposed or not, against sums in double.
TEST(CpuRows, MatmulBroadcastsBatches) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const Context context = cpu_context(2);
      const Array a = random(
          DType::I32,
          transpose_a ? std::vector<int64_t>{2, 1, 5, 3} : std::vector<int64_t>{2, 1, 3, 5}, 1);
      const Array b =
          random(DType::I32,
                 transpose_b ? std::vector<int64_t>{4, 7, 5} : std::vector<int64_t>{4, 5, 7}, 2);
      for (const DType dtype : {DType::I32, DType::I8, DType::F32, DType::F64, DType::BF16}) {
        const Tensor ta = convert(Tensor::of_data(context, a), dtype);
        const Tensor tb = convert(Tensor::of_data(context, b), dtype);
        const Array c =
            matmul(ta, tb, {.transpose_a = transpose_a, .transpose_b = transpose_b}).array();
        ASSERT_EQ(c.sizes(), (std::vector<int64_t>{2, 4, 3, 7}));
        for (int64_t i = 0; i < c.elements(); ++i) {
          const int64_t n = i % 7;
          const int64_t m = i / 7 % 3;
          const int64_t batch_b = i / 21 % 4;
          const int64_t batch_a = i / 84;
          double sum = 0;
          for (int64_t k = 0; k < 5; ++k) {
            sum += a.f64_at(batch_a * 15 + (transpose_a ? k * 3 + m : m * 5 + k)) *
                   b.f64_at(batch_b * 35 + (transpose_b ? n * 5 + k : k * 7 + n));
          }
          // I8 wraps.
          const double expected =
              dtype == DType::I8 ? static_cast<int8_t>(static_cast<int64_t>(sum)) : sum;
          if (dtype == DType::BF16 && std::abs(sum) > 256) continue;
          EXPECT_EQ(c.f64_at(i), expected) << dtype_name(dtype) << " " << i;
        }
      }
    }
  }
}

TEST(CpuRows, ArgmaxOfAnAxisThatTurnsOutEmptyIsRefused) {
  const Graph graph = parse_graph(
                          "graph @g { %x = input : f32[rows, width]\n"
                          "%y = argmax %x {axis = 1}\n output %y }",
                          all_ops())
                          .value_or_throw();
  const std::unique_ptr<Executable> executable =
      cpu::kTarget.compile(cpu::kTarget, graph, {}, {}).value_or_throw();
  Workspace workspace = executable->make_workspace(nullptr);
  const auto code = [&](int64_t rows, int64_t width) {
    const Array x = Array::zeros(DType::F32, {rows, width});
    const InputRef inputs[] = {InputRef(x)};
    const Result<std::vector<Array>> outputs = executable->run(workspace, inputs);
    return outputs.ok() ? "" : outputs.error().code;
  };
  EXPECT_EQ(code(2, 3), "");
  EXPECT_EQ(code(0, 3), "");
  EXPECT_EQ(code(2, 0), "operand-shape");
}

TEST(CpuRows, BadIndicesAreNamedAndSoIsTheirPlace) {
  const Context context = cpu_context();
  const Tensor table = Tensor::of_data(context, random(DType::F32, {4, 3}, 1));
  const auto code = [&](DType dtype, double index) -> std::string {
    Array indices = Array::zeros(dtype, {5});
    indices.set(2, index);
    try {
      gather(table, Tensor::of_data(context, indices));
    } catch (const Error& error) {
      EXPECT_NE(error.diagnostic().message.find("position 2"), std::string::npos);
      return error.diagnostic().code;
    }
    return "none";
  };
  EXPECT_EQ(code(DType::I32, 3), "none");
  for (const DType dtype : {DType::I32, DType::I64, DType::I8}) {
    EXPECT_EQ(code(dtype, 4), "index-out-of-range");
    EXPECT_EQ(code(dtype, -1), "index-out-of-range");
  }
  EXPECT_EQ(code(DType::U8, 255), "index-out-of-range");
}

}  // namespace
}  // namespace capra
