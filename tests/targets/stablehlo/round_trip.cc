// Reading back and computing.
#include "tests/targets/stablehlo/round_trip.h"

#include <gtest/gtest.h>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/targets/stablehlo/read/read.h"

namespace capra::stablehlo {

Module read_back(const Graph& graph, const EmitOptions& options) {
  const Module written = emit(graph, {}, options).value_or_throw();
  const Status sound = verify_module(written, entry_of(written.functions.front()));
  EXPECT_TRUE(sound.ok()) << (sound.ok() ? "" : to_text(sound.error()));
  const std::string text = print_module(written);
  Result<Module> module = read_module(text);
  if (!module.ok()) {
    ADD_FAILURE() << to_text(module.error()) << "\n" << text;
    return {};
  }
  const std::string again = print_module(*module);
  EXPECT_EQ(again, text);
  return *std::move(module);
}

Result<std::vector<Array>> compute(const Module& module, const std::vector<Array>& inputs,
                                   ImportOptions options) {
  for (const Array& input : inputs) options.inputs.push_back(input.type());
  CAPRA_ASSIGN(const Graph graph, import_module(module, options));
  return interpret(graph, inputs, {});
}

}  // namespace capra::stablehlo
