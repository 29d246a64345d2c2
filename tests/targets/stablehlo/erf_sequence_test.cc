// erf without chlo, as it is written: the operations of the module, each rounded to f32, over a
// strided sweep of all floats, against glibc's erf in double (within an ulp of double).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/targets/stablehlo/emit.h"
#include "tests/targets/stablehlo/erf_error.h"

namespace capra::stablehlo {
namespace {

constexpr uint64_t kStride = 9973;
constexpr size_t kCount = 1024;  // floats at once
using Bits = std::vector<uint32_t>;

float number(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

// What an operation of erf computes of one element of each operand.
uint32_t element(const Operation& operation, uint32_t a, uint32_t b, uint32_t c) {
  const std::string_view name = operation.name.substr(operation.name.find('.') + 1);
  if (name == "add") return bits(number(a) + number(b));
  if (name == "subtract") return bits(number(a) - number(b));
  if (name == "multiply") return bits(number(a) * number(b));
  if (name == "divide") return bits(number(a) / number(b));
  if (name == "negate") return bits(-number(a));
  if (name == "abs") return bits(std::abs(number(a)));
  if (name == "bitcast_convert") return a;
  if (name == "and") return a & b;
  if (name == "or") return a | b;
  if (name == "shift_left") return b < 32 ? a << b : 0;
  if (name == "select") return a != 0 ? b : c;
  if (name == "compare") {
    EXPECT_EQ(operation.attribute<std::string>("direction"), "LT");
    return number(a) < number(b) ? 1 : 0;
  }
  ADD_FAILURE() << "erf is written with " << operation.name;
  return 0;
}

Bits run(const Function& function, const Bits& x) {
  std::vector<Bits> values = {x};
  for (const Operation& operation : function.operations) {
    Bits result(kCount);
    if (operation.name == "stablehlo.constant") {
      const Array& value = operation.attribute<Array>("value");
      CAPRA_CHECK(value.elements() == 1);
      const bool is_number = value.dtype() == DType::F32;
      result.assign(kCount, is_number ? bits(value.as<float>()[0]) : value.as<uint32_t>()[0]);
    } else {
      const auto operand = [&](size_t index) -> const Bits& {
        const std::vector<ValueId>& ids = operation.operands;
        return values[static_cast<size_t>(ids[index < ids.size() ? index : 0])];
      };
      for (size_t i = 0; i < kCount; ++i) {
        result[i] = element(operation, operand(0)[i], operand(1)[i], operand(2)[i]);
      }
    }
    values.push_back(std::move(result));
  }
  return values[static_cast<size_t>(function.results[0])];
}

TEST(ErfSequence, MeetsTheGateStepByStepInF32) {
  const Graph graph =
      parse_graph("graph @erf {\n  %x = input : f32[1024]\n  %y = erf %x\n  output %y\n}\n",
                  all_ops())
          .value_or_throw();
  const Module module = emit(graph, {}, {.chlo = false}).value_or_throw();
  ASSERT_EQ(module.functions.size(), 1U);
  ErfError worst;
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += kStride * kCount) {
    Bits x(kCount);
    for (size_t i = 0; i < kCount; ++i) x[i] = static_cast<uint32_t>(first + i * kStride);
    const Bits y = run(module.functions[0], x);
    for (size_t i = 0; i < kCount; ++i) {
      const float in = number(x[i]);
      const float out = number(y[i]);
      if (std::isnan(in)) {
        ASSERT_TRUE(std::isnan(out));
        continue;
      }
      ASSERT_NO_FATAL_FAILURE(worst.include(in, out));
    }
  }
  worst.expect_gate();
  const Bits odd = run(module.functions[0], Bits(kCount, bits(0.75F)));
  EXPECT_EQ(number(run(module.functions[0], Bits(kCount, bits(-0.75F)))[0]), -number(odd[0]));
  EXPECT_EQ(number(run(module.functions[0], Bits(kCount, 0))[0]), 0);
  std::printf("erf without chlo: within %.3g and %.3g ulp\n", worst.abs, worst.ulp);
}

}  // namespace
}  // namespace capra::stablehlo
