// What text cannot say about policies: rules by op and scope, reports, data that is made of
// parameters.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/attention.h"
#include "capra/ops/convert.h"
#include "capra/ops/linear.h"
#include "capra/ops/softmax.h"
#include "capra/passes/passes.h"
#include "capra/passes/pipeline.h"
#include "capra/passes/policy/annotate_schedule.h"
#include "capra/passes/policy/dtype_policy.h"
#include "capra/passes/policy/prepare_parameters.h"
#include "capra/passes/policy/store_weights.h"
#include "tests/passes/graph_run.h"

namespace capra {
namespace {

using testing::count_ops;
using testing::parse;

constexpr std::string_view kLayer =
    "graph @main { %q = input : f32[4, 2, 8]\n"
    "%a = attention %q %q %q @ \"encoder.layer.0\"\n"
    "%b = attention %a %a %a @ \"encoder.layer.1\"\n"
    "%s = softmax %b @ \"encoder.layer.1.head\"\n"
    "%t = softmax %s @ \"encoder.layer.10\"\n output %t }";

DTypePolicy policy_of(const std::vector<std::string>& texts) {
  return parse_dtype_policy(texts, all_ops()).value_or_throw();
}

Result<Graph> with_policy(const Graph& graph, const std::vector<std::string>& texts,
                          PassContext& context) {
  const Pass pass = apply_dtype_policy(policy_of(texts), "asked for by a test: ");
  const Pass* list[] = {&pass, &kCanonicalize, &kDeadCode};
  return run_passes(graph, list, context, {.verify_each = true});
}

/// The dtype that the node of `op` with this path computes in.
DType computed_in(const Graph& graph, const OpDef& op, std::string_view path) {
  for (const Node& node : graph.nodes()) {
    if (node.op == &op && node.path == path) return graph.node(node.operands[0]).type.dtype;
  }
  ADD_FAILURE() << "no " << op.name << " @ " << path;
  return DType::Bool;
}

TEST(DTypePolicy, RulesPrintAsTheyAreWritten) {
  const std::vector<std::string> texts{"attention=bf16", "encoder.layer.0:linear=f32",
                                       "encoder.layer.0:*=f64", "*=f16"};
  const DTypePolicy policy = policy_of(texts);
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(dtype_rule_text(policy[i]), texts[i]);
}

TEST(DTypePolicy, TheNarrowestRuleCounts) {
  PassContext context;
  const Graph graph = with_policy(parse(kLayer),
                                  {"*=bf16", "softmax=f64", "encoder.layer.1:*=f16",
                                   "encoder.layer.1.head:softmax=f32"},
                                  context)
                          .value_or_throw();
  EXPECT_EQ(computed_in(graph, kAttention, "encoder.layer.0"), DType::BF16);
  EXPECT_EQ(computed_in(graph, kAttention, "encoder.layer.1"), DType::F16);
  EXPECT_EQ(computed_in(graph, kSoftmax, "encoder.layer.1.head"), DType::F32);
  // A scope is whole parts of a path: layer 10 is not inside layer 1.
  EXPECT_EQ(computed_in(graph, kSoftmax, "encoder.layer.10"), DType::F64);
}

TEST(DTypePolicy, RefusesRulesThatContradictEachOther) {
  PassContext context;
  const Result<Graph> crossed =
      with_policy(parse(kLayer), {"softmax=f32", "encoder.layer.1:*=bf16"}, context);
  ASSERT_FALSE(crossed.ok());
  EXPECT_EQ(crossed.error().code, "dtype-policy-contradictory");
  EXPECT_EQ(crossed.error().at, "encoder.layer.1.head");
  EXPECT_NE(crossed.error().message.find("softmax=f32 and encoder.layer.1:*=bf16"),
            std::string::npos)
      << crossed.error().message;
  // Crossed rules of one dtype say the same.
  EXPECT_TRUE(with_policy(parse(kLayer), {"softmax=bf16", "encoder.layer.1:*=bf16"}, context).ok());
  // A rule for just these ops in this scope settles it.
  EXPECT_TRUE(with_policy(parse(kLayer),
                          {"softmax=f32", "encoder.layer.1:*=bf16", "encoder.layer.1:softmax=f16"},
                          context)
                  .ok());
  const auto code = [](const std::vector<std::string>& texts) {
    const Result<DTypePolicy> policy = parse_dtype_policy(texts, all_ops());
    return policy.ok() ? std::string() : policy.error().code;
  };
  EXPECT_EQ(code({"softmax=f32", "softmax=bf16"}), "dtype-policy-contradictory");
  EXPECT_EQ(code({"softmax=f32", "softmax=f32"}), "");
  EXPECT_EQ(code({"softmax"}), "dtype-policy-invalid");
  EXPECT_EQ(code({"softmax=i8"}), "dtype-policy-invalid");
  EXPECT_EQ(code({"softmax=float"}), "dtype-policy-invalid");
  EXPECT_EQ(code({"convert=bf16"}), "dtype-policy-invalid");
  EXPECT_EQ(code({"constant=bf16"}), "dtype-policy-invalid");
  EXPECT_EQ(code({"softmaxx=bf16"}), "op-unknown");
}

TEST(DTypePolicy, SettlesAndSaysWhatItNarrows) {
  PassContext context;
  const Graph graph = with_policy(parse(kLayer), {"attention=bf16"}, context).value_or_throw();
  EXPECT_EQ(count_ops(graph, kConvert), 2);  // in at the first, out after the second
  ASSERT_EQ(context.report.lines.size(), 2U);
  EXPECT_EQ(context.report.lines[0],
            "DTYPE_POLICY_NARROWED node=encoder.layer.0: attention in f32 -> in bf16 [asked for by "
            "a test: attention=bf16] maxRelError=3.90625E-3");
  const std::vector<Approximation> found = approximations(graph);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].node, "encoder.layer.1");
  EXPECT_EQ(found[1].legalized_from, "attention in f32");
  EXPECT_EQ(found[1].legalized_to, "attention(causal=false, scale=0) in bf16");
  EXPECT_EQ(found[1].max_rel_error, 0x1p-8);
  EXPECT_EQ(found[1].max_abs_error, 0);
  size_t narrowed = 0;
  for (const Rewrite& rewrite : context.report.rewrites) narrowed += rewrite.rule == "narrowed";
  EXPECT_EQ(narrowed, 2U);
  PassContext again;
  EXPECT_TRUE(with_policy(graph, {"attention=bf16"}, again).value_or_throw() == graph);
  EXPECT_TRUE(again.report.rewrites.empty());
}

// Two of one reason, so that their notes share a text; the second round of CSE finds them equal.
TEST(DTypePolicy, ANodeKeepsTheRecordOfEachApproximation) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[4]\n %a = softmax %x\n %b = softmax %x\n %y = add %a %b\n"
      "output %y }");
  const Pass first = apply_dtype_policy(policy_of({"softmax=bf16"}), "asked twice: ");
  const Pass second = apply_dtype_policy(policy_of({"softmax=f16"}), "asked twice: ");
  PassContext context;
  const Pass* one[] = {&first};
  const Pass* two[] = {&second};
  const Pass* merge[] = {&kCommonSubexpressions, &kDeadCode};
  Graph now = run_passes(graph, one, context).value_or_throw();
  now = run_passes(now, two, context).value_or_throw();
  const std::vector<Approximation> four = approximations(now);
  ASSERT_EQ(four.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(four[i].node, i < 2 ? "%a" : "%b");
    EXPECT_EQ(four[i].legalized_from, i % 2 == 0 ? "softmax in f32" : "softmax in bf16");
    EXPECT_EQ(four[i].max_rel_error, i % 2 == 0 ? 0x1p-8 : 0x1p-11);
    EXPECT_EQ(four[i].reason,
              i % 2 == 0 ? "asked twice: softmax=bf16" : "asked twice: softmax=f16");
  }
  const std::vector<Approximation> told = approximations(context.report.rewrites);
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0].node, "%a");
  EXPECT_EQ(told[3].max_rel_error, 0x1p-11);
  // Equal nodes with equal records become one node with each record once.
  EXPECT_EQ(approximations(run_passes(now, merge, context).value_or_throw()).size(), 2U);
}

// Records that share a note are whole where nodes become one.
TEST(DTypePolicy, RecordsThatShareANoteStayWhole) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[4]\n"
      "%a = tanh %x !{legalizedFrom = \"p\", maxAbsError = 0.5, reason = \"why\"}\n"
      "%b = tanh %x !{legalizedFrom = \"q\", maxAbsError = 0.25, reason = \"why\"}\n"
      "%y = add %a %b\n output %y }");
  PassContext context;
  const Graph merged = kCommonSubexpressions.run(graph, context).value_or_throw();
  const std::vector<Approximation> both = approximations(merged);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].reason, "why");
  EXPECT_EQ(both[1].reason, "why");
  EXPECT_EQ(both[1].max_abs_error, 0.25);
}

TEST(DTypePolicy, WideningIsNoApproximation) {
  const Graph graph = parse("graph @main { %x = input : bf16[4]\n %y = softmax %x\n output %y }");
  PassContext context;
  const Graph wide = with_policy(graph, {"softmax=f32"}, context).value_or_throw();
  EXPECT_TRUE(approximations(wide).empty());
  EXPECT_TRUE(context.report.lines.empty());
  ASSERT_EQ(context.report.rewrites.size(), 1U);
  EXPECT_EQ(context.report.rewrites[0].rule, "widened");
}

// The stated error holds: each product is of values rounded once, and is itself rounded once.
TEST(DTypePolicy, ErrorsStayWithinTheStatedRoundings) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[64]\n %y = input : f32[64]\n %z = mul %x %y\n output %z }");
  for (const auto& [name, unit] : {std::pair{"bf16", 0x1p-8}, {"f16", 0x1p-11}}) {
    PassContext context;
    const Graph narrow = with_policy(graph, {std::string("mul=") + name}, context).value_or_throw();
    Array x = Array::zeros(DType::F32, {64});
    Array y = Array::zeros(DType::F32, {64});
    for (int64_t i = 0; i < 64; ++i) {
      x.set(i, 1.0 + static_cast<double>(i) * 0.0137);
      y.set(i, 1.9 - static_cast<double>(i) * 0.0071);
    }
    const std::vector<Array> found = testing::run_eager(narrow, {{x, y}, {}});
    for (int64_t i = 0; i < 64; ++i) {
      const double wanted = x.f64_at(i) * y.f64_at(i);
      const double bound = std::abs(wanted) * (std::pow(1 + unit, 3) - 1);
      EXPECT_LE(std::abs(found[0].f64_at(i) - wanted), bound) << name << " " << i;
    }
  }
}

TEST(AnnotateSchedule, GivesDefaultsWhereTheAuthorSaidNothing) {
  const std::vector<std::string> texts{"attention=batch+heads", "linear=rows"};
  const Pass pass = annotate_schedule(parse_schedule_defaults(texts, all_ops()).value_or_throw());
  const Graph graph = parse(
      "graph @main { %q = input : f32[4, 2, 8]\n %a = attention %q %q %q\n"
      "%b = attention %a %a %a !{schedule = \"parallel(batch)\"}\n output %b }");
  const Pass* list[] = {&pass};
  PassContext context;
  const Graph result = run_passes(graph, list, context, {.verify_each = true}).value_or_throw();
  EXPECT_EQ(result.node(1).notes, (std::vector<Note>{{"schedule", "parallel(batch, heads)"}}));
  EXPECT_EQ(result.node(2).notes, (std::vector<Note>{{"schedule", "parallel(batch)"}}));
  ASSERT_EQ(context.report.rewrites.size(), 1U);
  EXPECT_EQ(
      context.report.rewrites[0].note,
      "attention(causal=false, scale=0) -> attention(causal=false, scale=0) by parallel(batch, "
      "heads)");
}

TEST(AnnotateSchedule, RefusesDefaultsThatAreNone) {
  const auto code = [](const std::vector<std::string>& texts) {
    const Result<std::vector<ScheduleDefault>> defaults = parse_schedule_defaults(texts, all_ops());
    return defaults.ok() ? std::string() : defaults.error().code;
  };
  EXPECT_EQ(code({"attention=heads"}), "");
  EXPECT_EQ(code({"attention=rows"}), "schedule-invalid");
  EXPECT_EQ(code({"relu=rows"}), "schedule-invalid");
  EXPECT_EQ(code({"attention="}), "schedule-invalid");
  EXPECT_EQ(code({"attention"}), "option-invalid");
  EXPECT_EQ(code({"attention=heads", "attention=batch"}), "option-invalid");
  EXPECT_EQ(code({"attentive=heads"}), "op-unknown");
}

TEST(Schedule, HintsAreNoPartOfEquality) {
  const Graph graph = parse(
      "graph @main { %q = input : f32[4, 2, 8]\n %a = attention %q %q %q\n"
      "%b = attention %q %q %q !{schedule = \"parallel(heads)\"}\n %y = add %a %b\n output %y }");
  PassContext context;
  const Graph merged = kCommonSubexpressions.run(graph, context).value_or_throw();
  EXPECT_EQ(count_ops(merged, kAttention), 1);
  EXPECT_EQ(merged.node(1).notes, (std::vector<Note>{{"schedule", "parallel(heads)"}}));
}

TEST(PrepareParameters, MovesBytesAndRoundsOnce) {
  const Graph graph = parse(
      "graph @main { %w = parameter {path = \"w\"} : f32[2, 3]\n %t = permute %w {axes = [1, 0]}\n"
      "output %t }");
  PassContext context;
  const Graph prepared = kPrepareParameters.run(graph, context).value_or_throw();
  ASSERT_TRUE(is_prepared_parameter(prepared, 1));
  const Graph& body = *prepared.node(1).body;
  EXPECT_EQ(preparation_text(body), "permute(axes=[1, 0])");
  const uint32_t bits[] = {0x3F800000, 0x80000000, 0x7F800001, 0xFFC00123, 0x00000001, 0x7F800000};
  const uint32_t moved[] = {0x3F800000, 0xFFC00123, 0x80000000, 0x00000001, 0x7F800001, 0x7F800000};
  Array data = Array::zeros(DType::F32, {2, 3});
  for (size_t i = 0; i < 6; ++i) data.mutable_as<float>()[i] = std::bit_cast<float>(bits[i]);
  const Array result = prepared_data(body, data).value_or_throw();
  ASSERT_EQ(result.sizes(), (std::vector<int64_t>{3, 2}));
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(result.as<float>()[i]), moved[i]) << i;
  }
  const Result<Array> other = prepared_data(body, Array::zeros(DType::F32, {3, 2}));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, "parameter-type");
}

// The data are those that the steps compute when the graph runs.
TEST(PrepareParameters, DataAgreeWithTheStepsForEveryDType) {
  for (const std::string_view to : {"f64", "f32", "f16", "bf16", "i32", "u8", "bool"}) {
    for (const std::string_view from : {"f64", "f32", "f16", "bf16", "i64", "u8", "bool"}) {
      const Graph graph =
          parse("graph @main { %w = parameter {path = \"w\"} : " + std::string(from) +
                "[2, 3, 4]\n %c = convert %w {dtype = " + std::string(to) +
                "}\n %t = permute %c {axes = [2, 0, 1]}\n output %t }");
      Array data = Array::zeros(*parse_dtype(from), {2, 3, 4});
      for (int64_t i = 0; i < data.elements(); ++i) {
        data.set(i, static_cast<double>(i * i) * 1.0009765625 - 40.3);
      }
      PassContext context;
      const Pass* list[] = {&kPrepareParameters};
      const Graph prepared = run_passes(graph, list, context).value_or_throw();
      ASSERT_EQ(prepared.size(), 3);
      ASSERT_TRUE(is_prepared_parameter(prepared, 1)) << from << " to " << to;
      const Array found = prepared_data(*prepared.node(1).body, data).value_or_throw();
      const std::vector<Array> wanted = testing::run_eager(graph, {{}, {{"w", data}}});
      EXPECT_EQ(testing::difference(wanted, {found}), "") << from << " to " << to;
    }
  }
}

bool same_number(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// What the steps of a graph of one parameter and one convert make of its data when it is exported.
Array exported_convert(const Array& data, DType to) {
  const Graph graph =
      parse("graph @main { %w = parameter {path = \"w\"} : " + data.type().text() +
            "\n %c = convert %w {dtype = " + std::string(dtype_name(to)) + "}\n output %c }");
  PassContext context;
  const Graph prepared = kPrepareParameters.run(graph, context).value_or_throw();
  EXPECT_TRUE(is_prepared_parameter(prepared, 1));
  const Array found = prepared_data(*prepared.node(1).body, data).value_or_throw();
  EXPECT_EQ(testing::difference(testing::run_eager(graph, {{}, {{"w", data}}}), {found}), "")
      << dtype_name(data.dtype()) << " to " << dtype_name(to);
  return found;
}

// Ends of ranges, ties of each float and their neighbours, and for floats what is no number.
Array extremes(DType dtype) {
  std::vector<double> floats{0.0,   -0.0,    0.5,       -1.9,     127.9,    255.5,
                             65504, 65519.9, 65520,     0x1p31,   0x1p32,   0x1p63,
                             1e20,  -1e20,   0x1p-1074, 0x1p-149, 0x1p-24,  0x1p-25,
                             1e308, -3.4e38, NAN,       INFINITY, -INFINITY};
  for (const int digits : {8, 11, 24}) {
    const double tie = 1 + std::ldexp(1, -digits);
    floats.insert(floats.end(), {tie, tie + 0x1p-40, -tie - 0x1p-40, tie - 0x1p-40});
  }
  std::vector<uint64_t> integers{0, 1, 2, ~uint64_t{0}, ~uint64_t{1}};
  for (int bit = 7; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    integers.insert(integers.end(), {power - 1, power, power + 1, 0 - power, 0 - power - 1});
    for (const int digits : {8, 11, 24, 53}) {
      if (bit < digits) continue;
      const uint64_t tie = power + (power >> digits);
      integers.insert(integers.end(), {tie - 1, tie, tie + 1, 0 - tie - 1});
    }
  }
  const size_t count = is_float(dtype) ? floats.size() : integers.size();
  Array array = Array::zeros(dtype, {static_cast<int64_t>(count)});
  for (size_t i = 0; i < count; ++i) {
    const auto index = static_cast<int64_t>(i);
    if (is_float(dtype)) {
      array.set(index, floats[i]);
    } else {
      array.set_i64(index, static_cast<int64_t>(integers[i]));
    }
  }
  return array;
}

// Neither the oracle nor the cpu's kernels (judged by long double) get other numbers.
TEST(PrepareParameters, EveryPairOfDTypesIsConvertedAsByRunning) {
  for (const DType from : all_dtypes()) {
    const Array data = extremes(from);
    for (const DType to : all_dtypes()) {
      const Array found = exported_convert(data, to);
      const Context oracle = interp_context();
      const Tensor given = Tensor::of_data(oracle, interp_array(data));
      const Array wanted = convert(given, to).array();
      for (int64_t i = 0; i < data.elements(); ++i) {
        const bool same = is_float(to) ? same_number(found.f64_at(i), wanted.f64_at(i))
                                       : found.i64_at(i) == wanted.i64_at(i);
        ASSERT_TRUE(same) << dtype_name(from) << " to " << dtype_name(to) << ", element " << i
                          << ": " << data.f64_at(i) << " is " << found.f64_at(i) << ", not "
                          << wanted.f64_at(i);
      }
    }
  }
}

TEST(PrepareParameters, WideIntegersAreRoundedOnceAndKeepTheirSign) {
  const auto of_integer = [](DType from, uint64_t value, DType to) {
    Array data = Array::zeros(from, {1});
    data.set_i64(0, static_cast<int64_t>(value));
    return exported_convert(data, to).f64_at(0);
  };
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  EXPECT_EQ(of_integer(DType::U64, kHalf, DType::F32), 0x1p63);
  EXPECT_EQ(of_integer(DType::U64, kHalf, DType::F64), 0x1p63);
  EXPECT_EQ(of_integer(DType::U64, kHalf, DType::BF16), 0x1p63);
  EXPECT_EQ(of_integer(DType::I64, kHalf, DType::F32), -0x1p63);
  // One above a tie of f32, which f64 does not hold: through it the tie would go to even.
  constexpr uint64_t kTie = (uint64_t{1} << 54) + (uint64_t{1} << 30);
  EXPECT_EQ(of_integer(DType::I64, kTie + 1, DType::F32), 0x1p54 + 0x1p31);
  EXPECT_EQ(of_integer(DType::I64, kTie, DType::F32), 0x1p54);
}

TEST(StoreWeights, SaysWhichParameterIsStoredHow) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[3, 4]\n %w = parameter {path = \"dense.weight\"} : f32[5, "
      "4]\n"
      "%y = matmul %x %w {transpose_b = true} @ \"dense\"\n output %y }");
  PassContext context;
  const Pass* list[] = {&kEliminateTransposes, &kStoreWeightsKn};
  const Graph result = run_passes(graph, list, context, {.verify_each = true}).value_or_throw();
  ASSERT_EQ(context.report.rewrites.size(), 1U);
  EXPECT_EQ(context.report.rewrites[0].pass, "store-weights-kn");
  EXPECT_EQ(context.report.rewrites[0].node, "dense");
  EXPECT_EQ(context.report.rewrites[0].note, "dense.weight f32[5, 4] -> stored as f32[4, 5]");
  EXPECT_EQ(count_ops(result, kGroup), 1);
}

}  // namespace
}  // namespace capra
