// Every call that the records allow, written in each form, read back and computed by the oracle:
// the text is the same, and so are the numbers.
#include "tests/targets/stablehlo/round_trip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/shape_rules.h"
#include "tests/ops/conformance_calls.h"
#include "tests/targets/stablehlo/erf_error.h"
#include "tools/golden/execute.h"

namespace capra::stablehlo {
namespace {

// How far a program may be from the graph that it was written from, both computed in double.
struct Bound {
  double relative = 0;  ///< to the result, or to the sum of the terms' magnitudes
  double absolute = 0;
  int units = 0;  ///< of the last place of a half dtype
};

double half_ulp_of(DType dtype, double value) {
  const int digits = dtype == DType::F16 ? 11 : 8;
  const int least = dtype == DType::F16 ? -24 : -133;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, least);
  return std::ldexp(1.0, std::max(std::ilogb(value) - digits + 1, least));
}

double largest(DType dtype) {
  if (dtype == DType::F16) return 65504;
  return dtype == DType::F64 ? std::numeric_limits<double>::max() : 0x1.fffffep+127;
}

// Words, or nothing.
std::string difference(const Array& found, const Array& wanted, const Array& scale, DType dtype,
                       const Bound& bound) {
  if (found.type() != wanted.type()) {
    return fmt::format("{}, wanted {}", found.type().text(), wanted.type().text());
  }
  for (int64_t i = 0; i < wanted.elements(); ++i) {
    const double a = found.f64_at(i);
    const double b = wanted.f64_at(i);
    if (!is_float(wanted.dtype())) {
      if (found.i64_at(i) == wanted.i64_at(i)) continue;
    } else {
      const double magnitude = std::isfinite(scale.f64_at(i)) ? std::abs(scale.f64_at(i)) : 0;
      double allowed = bound.absolute + bound.relative * magnitude;
      if (is_half(dtype)) allowed += bound.units * half_ulp_of(dtype, magnitude);
      if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= allowed) continue;
      // Beyond the largest number of the dtype, infinity is the correct rounding.
      if (std::isinf(a) && a * b > 0 && std::abs(b) >= largest(dtype)) continue;
    }
    return fmt::format("[{}] is {:.17g}, wanted {:.17g}", i, a, b);
  }
  return {};
}

Call with_symbols(Call call) {
  for (TensorType& type : call.types) {
    for (int64_t axis = 0; axis < type.shape.rank(); ++axis) {
      const int64_t size = type.shape[axis].size();
      if (size > 1) type.shape[axis] = Dim(fmt::format("n{}", size));
    }
  }
  return call;
}

class RoundTrip : public ::testing::TestWithParam<const OpDef*> {
 protected:
  void run(const Call& call) {
    call_ = &call;
    const Graph graph = graph_of(call).value_or_throw();
    // Behind a mask and beyond the largest numbers a decomposition may part from its op.
    const bool plain = call.op->name == "attention" || call.op->decompose != nullptr;
    const auto kind = plain ? golden::DataKind::Finite : golden::DataKind::Special;
    const golden::RunData data =
        golden::seeded_data(graph, given_data(call), {}, kind, 20).value_or_throw();
    inputs_.clear();
    for (const NodeId id : graph.inputs()) {
      inputs_.push_back(data.inputs.at(graph.node(id).attrs_as<InputAttrs>().name));
    }
    wanted_ = golden::run_on_oracle(graph, data).value_or_throw().at("result");
    scale_ = wanted_;
    if (call.op->accuracy.note == kOfMagnitudes) {
      scale_ = golden::run_on_oracle(graph, golden::magnitudes(data)).value_or_throw().at("result");
    }
    dtype_ = graph.node(graph.outputs()[0]).type.dtype;
    // Constants of a decomposition are rounded to the dtype, and halves between its steps.
    const Bound inlined{dtype_ == DType::F32 && plain ? 1e-6 : 1e-14,
                        dtype_ == DType::F32 && plain ? 1e-7 : 0, 2};
    const std::string op(call.op->name);
    check(graph, {}, {}, inlined, "inline");
    if (call.op->name != "constant") {
      check(graph, {.keep_fused = {op}}, {}, inlined, "composite");
      check(graph, {.keep_fused = {op}}, {.whole_composites = true}, {}, "whole composite");
    }
    const Result<Graph> dynamic = graph_of(with_symbols(call));
    if (dynamic.ok() && *dynamic != graph) {
      check(*dynamic, {}, {}, inlined, "dynamic");
      if (op != "constant") check(*dynamic, {.keep_fused = {op}}, {}, inlined, "dynamic composite");
    }
    // f32 steps, each rounded: numerics.md has the gate of erf.
    if (emit(graph, {}, {.chlo = false}).ok()) {
      check(graph, {.chlo = false}, {.round_results = true},
            {dtype_ == DType::F64 ? 1e-14 : 4e-6, dtype_ == DType::F64 ? 0 : 4e-7, 2}, "no chlo");
    }
  }
  int compared() const { return compared_; }

 private:
  void check(const Graph& graph, const EmitOptions& options, const ImportOptions& import,
             const Bound& bound, std::string_view form) {
    const Result<Module> written = emit(graph, {}, options);
    if (!written.ok()) {
      ASSERT_TRUE(written.error().code == "op-not-legal" ||
                  written.error().code == "symbol-unbound")
          << text_of(*call_) << to_text(written.error());
      return;
    }
    const Module module = read_back(graph, options);
    ASSERT_FALSE(HasFailure()) << text_of(*call_) << ", " << form;
    const Result<std::vector<Array>> found = compute(module, inputs_, import);
    ASSERT_TRUE(found.ok()) << text_of(*call_) << ", " << form << ": " << to_text(found.error())
                            << "\n"
                            << print_module(module);
    ASSERT_EQ(found->size(), 1U);
    const std::string words = difference((*found)[0], wanted_, scale_, dtype_, bound);
    ASSERT_EQ(words, "") << text_of(*call_) << ", " << form << "\n" << print_module(module);
    ++compared_;
  }

  const Call* call_ = nullptr;
  std::vector<Array> inputs_;
  Array wanted_;
  Array scale_;
  DType dtype_ = DType::F32;
  int compared_ = 0;
};

TEST_P(RoundTrip, EveryFormComputesWhatTheGraphDoes) {
  const OpDef& op = *GetParam();
  for (const DType dtype : all_dtypes()) {
    for (const Call& call : calls_of(op, dtype)) {
      // No index fits an empty axis.
      if (op.name == "gather" && call.types[0].shape[0] == Dim(0)) continue;
      run(call);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(compared(), 0);
  RecordProperty("compared", compared());
}

// The gate of numerics.md, where the oracle computes what was written: each step rounded to f32,
// over a strided sweep of all floats, against glibc's erf in double (within an ulp of double).
TEST(Erf, WithoutChloMeetsItsGateOnTheOracle) {
  constexpr uint64_t kStride = 9973;
  constexpr int64_t kCount = 32768;  // floats at once
  const Graph graph = parse_graph(fmt::format("graph @erf {{\n  %x = input : f32[{}]\n  %y = erf "
                                              "%x\n  output %y\n}}\n",
                                              kCount),
                                  all_ops())
                          .value_or_throw();
  const Module module = read_back(graph, {.chlo = false});
  ErfError worst;
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += kStride * kCount) {
    Array x = Array::zeros(DType::F32, {kCount});
    for (uint64_t i = 0; i < kCount; ++i) {
      x.mutable_as<float>()[i] = std::bit_cast<float>(static_cast<uint32_t>(first + i * kStride));
    }
    const std::vector<Array> results =
        compute(module, {x}, {.round_results = true}).value_or_throw();
    ASSERT_EQ(results.size(), 1U);
    ASSERT_EQ(results[0].sizes(), x.sizes());
    for (int64_t i = 0; i < kCount; ++i) {
      const double in = x.f64_at(i);
      const double out = results[0].f64_at(i);
      ASSERT_EQ(std::isnan(out), std::isnan(in)) << in;
      if (std::isnan(in)) continue;
      ASSERT_EQ(out, static_cast<double>(static_cast<float>(out)));
      ASSERT_NO_FATAL_FAILURE(worst.include(in, out));
    }
  }
  worst.expect_gate();
}

INSTANTIATE_TEST_SUITE_P(Ops, RoundTrip, ::testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

}  // namespace
}  // namespace capra::stablehlo
