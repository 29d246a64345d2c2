// Raising undoes decomposition: one level deep, and down to the primitives of the oracle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "capra/interp/interp.h"
#include "capra/ir/text.h"
#include "capra/passes/passes.h"
#include "capra/passes/pipeline.h"
#include "tests/passes/graph_run.h"

namespace capra {
namespace {

using testing::parse;

/// A table whose rows are these ops and nothing else.
class Table {
 public:
  explicit Table(OpSet ops) {
    for (const OpDef* op : ops) rows_.push_back({.op = op});
    for (const OpRow& row : rows_) addresses_.push_back(&row);
  }
  OpTable table() const { return OpTable(addresses_); }

 private:
  std::vector<OpRow> rows_;
  std::vector<const OpRow*> addresses_;
};

/// Replaces every op by its decomposition down to the primitives.
Graph primitives_of(const Graph& graph) {
  const Table rows(interp_primitives());
  const OpTable table = rows.table();
  PassContext context{.table = &table, .target = "primitives"};
  return kLegalize.run(graph, context).value_or_throw();
}

/// The calls of a graph as text, without names of values.
std::string calls(Graph graph) {
  for (NodeId id = 0; id < graph.size(); ++id) graph.node(id).name.clear();
  return print_graph(graph);
}

struct RoundTrip {
  const char* name;
  const char* text;
};

class RaiseTest : public ::testing::TestWithParam<RoundTrip> {};

TEST_P(RaiseTest, UndoesDecomposition) {
  for (const std::string_view dtype : {"f32", "f64", "f16", "bf16"}) {
    std::string text(GetParam().text);
    for (size_t at = text.find("F["); at != std::string::npos; at = text.find("F[")) {
      text.replace(at, 1, dtype);
    }
    const Graph graph = parse(text);
    const Graph primitives = primitives_of(graph);
    EXPECT_GT(primitives.size(), graph.size());
    PassContext context = testing::cpu_context(nullptr);
    const Graph raised =
        run_passes(primitives, raising_passes(), context, {.verify_each = true}).value_or_throw();
    EXPECT_EQ(calls(raised), calls(graph)) << print_graph(primitives);
  }
}

constexpr RoundTrip kRoundTrips[] = {
    {"gelu_exact",
     "graph @main { %x = input : F[tokens, 4]\n %y = gelu %x {approximate = false}\n output %y }"},
    {"gelu_tanh",
     "graph @main { %x = input : F[tokens, 4]\n %y = gelu %x {approximate = true}\n output %y }"},
    {"softmax", "graph @main { %x = input : F[tokens, 4]\n %y = softmax %x\n output %y }"},
    {"softmax_first_axis",
     "graph @main { %x = input : F[3, 4]\n %y = softmax %x {axis = 0}\n output %y }"},
    {"layer_norm",
     "graph @main { %x = input : F[tokens, 4]\n %g = input : F[4]\n %b = input : F[4]\n"
     "%y = layer_norm %x %g %b {eps = 1e-12}\n output %y }"},
    {"layer_norm_of_odd_rows",
     "graph @main { %x = input : F[2, 3, 7]\n %g = input : F[7]\n"
     "%y = layer_norm %x %g {eps = 0.1}\n output %y }"},
    {"layer_norm_with_beta_alone",
     "graph @main { %x = input : F[tokens, 4]\n %b = input : F[4]\n"
     "%y = layer_norm %x _ %b\n output %y }"},
    {"layer_norm_bare",
     "graph @main { %x = input : F[tokens, 4]\n %y = layer_norm %x\n output %y }"},
    {"attention",
     "graph @main { %q = input : F[tokens, 2, 4]\n %k = input : F[keys, 2, 4]\n"
     "%v = input : F[keys, 2, 3]\n %y = attention %q %k %v\n output %y }"},
    {"attention_with_scale_and_mask",
     "graph @main { %q = input : F[3, 2, 4]\n %k = input : F[5, 2, 4]\n"
     "%v = input : F[5, 2, 3]\n %m = input : F[3, 5]\n"
     "%y = attention %q %k %v _ _ %m {scale = 0.3}\n output %y }"},
};

INSTANTIATE_TEST_SUITE_P(Ops, RaiseTest, ::testing::ValuesIn(kRoundTrips),
                         [](const auto& tested) { return tested.param.name; });

TEST(Raise, AWholeLayerOfPrimitivesBecomesOps) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[tokens, 8]\n %w = parameter {path = \"w\"} : f32[8, 8]\n"
      "%q = matmul %x %w\n %h = reshape %q {shape = [tokens, 2, 4]}\n"
      "%a = attention %h %h %h\n %r = reshape %a {shape = [tokens, 8]}\n %s = add %r %x\n"
      "%n = layer_norm %s\n %u = matmul %n %w\n %g = gelu %u {approximate = false}\n"
      "%t = add %g %n\n %y = layer_norm %t\n output %y }");
  const Graph primitives = primitives_of(graph);
  PassContext context = testing::cpu_context(nullptr);
  const Graph raised = run_passes(primitives, raising_passes(), context).value_or_throw();
  EXPECT_EQ(calls(raised), calls(graph));
}

// Rules look at a few nodes, whatever hangs below them.
TEST(Raise, ALongChainOfArithmeticIsNotDescended) {
  std::string text = "graph @main { %x = input : f32[2]\n %a0 = add %x %x\n";
  constexpr int kLength = 60000;
  for (int i = 1; i < kLength; ++i) {
    text += fmt::format("%a{} = add %a{} %x\n", i, i - 1);
  }
  text += fmt::format("%e = erf %x\n %y = mul %a{} %e\n output %y }}", kLength - 1);
  const Graph graph = parse(text);
  PassContext context;
  EXPECT_TRUE(kRaiseGelu.run(graph, context).value_or_throw() == graph);
}

TEST(Raise, PackedSequencesAndCausalRulesStayPrimitive) {
  // The op would have to be told the offsets again; nothing of that may be dropped.
  for (const std::string_view text :
       {"graph @main { %q = input : f32[tokens, 2, 4]\n %o = input : i32[3]\n"
        "%y = attention %q %q %q %o\n output %y }",
        "graph @main { %q = input : f32[tokens, 2, 4]\n"
        "%y = attention %q %q %q {causal = true}\n output %y }"}) {
    const Graph primitives = primitives_of(parse(text));
    PassContext context;
    const Graph raised = kRaiseAttention.run(primitives, context).value_or_throw();
    EXPECT_TRUE(raised == primitives);
  }
}

}  // namespace
}  // namespace capra
