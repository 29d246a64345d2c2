// The verifier: one broken graph for each rule.
#include "capra/ir/verify.h"

#include <gtest/gtest.h>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "tests/ir/sample_ops.h"

namespace capra {
namespace {

const TensorType kType{DType::F32, {2}};

// %0 input, %1 neg of it, %2 a group around a neg, %3 output.
Graph sound() {
  return *parse_graph(
      "graph @g { %x = input : f32[2]\n %y = neg %x @ \"here\"\n"
      "%z = group %y body @b { %a = input : f32[2]\n %b = neg %a\n output %b }\n output %z }",
      sample::ops());
}

void expect_invalid(const Graph& graph, const std::string& message, const std::string& at) {
  const Status status = verify(graph);
  ASSERT_FALSE(status.ok()) << print_graph(graph);
  EXPECT_EQ(status.error().code, "graph-invalid");
  EXPECT_EQ(status.error().message, message);
  EXPECT_EQ(status.error().at, at);
}

// The sound graph with another body in its group.
Graph with_body(const std::string& body) {
  Graph graph = sound();
  graph.node(2).body = std::make_shared<const Graph>(*parse_graph(body, sample::ops()));
  return graph;
}

TEST(Verify, TakesASoundGraph) {
  EXPECT_TRUE(verify(sound()).ok());
  EXPECT_TRUE(verify(Graph()).ok());
}

TEST(Verify, ANodeHasAnOp) {
  Graph graph = sound();
  graph.node(1).op = nullptr;
  expect_invalid(graph, "the node has no op", "g: node 1 @ here");
}

TEST(Verify, OperandsComeBeforeTheirUsers) {
  for (const NodeId operand : {1, 2, 99, -2}) {
    Graph graph = sound();
    graph.node(1).operands[0] = operand;
    expect_invalid(
        graph,
        "operand 0 is node " + std::to_string(operand) + ", which does not come before its user",
        "g: node 1 (neg) @ here");
  }
}

TEST(Verify, AnOutputIsNoValue) {
  Graph graph = sound();
  graph.append({&sample::kNeg, {3}, {}, kType});
  expect_invalid(graph, "operand 0 is an output, which is no value", "g: node 4 (neg)");
}

TEST(Verify, AbsentOperandsAtTheEndAreLeftOut) {
  Graph graph = sound();
  const NodeId id = graph.append({&sample::kLerp, {0, 1, kAbsent, kAbsent}, {}, kType});
  EXPECT_EQ(graph.node(id).operands.size(), 2u);  // append brings nodes to one form
  EXPECT_TRUE(verify(graph).ok());
  graph.node(id).operands.push_back(kAbsent);
  expect_invalid(graph, "the last operand is absent; absent operands at the end are left out",
                 "g: node 4 (lerp)");
}

TEST(Verify, OperandCountsAgreeWithTheRecord) {
  Graph graph = sound();
  graph.node(1).operands.push_back(0);
  expect_invalid(graph, "neg takes (x), found 2 operands [operand-count]",
                 "g: node 1 (neg) @ here");
}

TEST(Verify, AttributesAgreeWithTheRecord) {
  Graph graph = sound();
  graph.node(1).attrs.push_back(int64_t{1});
  expect_invalid(graph, "the record has 0 attributes, the node 1", "g: node 1 (neg) @ here");

  graph = sound();
  graph.append({&sample::kJoin, {0}, {AttrValue(1.0)}, kType});
  expect_invalid(graph, "attribute 'axis' is not of kind int", "g: node 4 (join)");

  graph = sound();
  graph.append({&sample::kConstant, {}, {AttrValue(Array())}, kType});
  expect_invalid(graph, "attribute 'value' holds no data", "g: node 4 (constant)");
}

TEST(Verify, TypesAreThoseTheRecordInfers) {
  Graph graph = sound();
  graph.node(1).type = {DType::F32, {3}};
  expect_invalid(graph, "the node has the type f32[3], the record infers f32[2]",
                 "g: node 1 (neg) @ here");

  graph = sound();
  graph.node(0).type = {DType::F64, {2}};
  expect_invalid(graph, "the node has the type f64[2], the record infers f32[2]",
                 "g: node 0 (input)");

  graph = sound();
  graph.node(0).type.dtype = DType::I8;
  graph.node(0).attrs[1] = graph.node(0).type;
  expect_invalid(graph, "neg: x is not a float [operand-dtype]", "g: node 1 (neg) @ here");
}

TEST(Verify, DimsAreIdentifiersAndNotNegative) {
  Graph graph = sound();
  graph.node(0).type.shape = {Dim("a b")};
  expect_invalid(graph, "the dim \"a b\" is not an identifier", "g: node 0 (input)");
  graph.node(0).type.shape = {Dim(-2)};
  expect_invalid(graph, "a dim of f32[-2] is negative", "g: node 0 (input)");
}

TEST(Verify, NamesAreUnique) {
  Graph graph = sound();
  graph.append({&kInput, {}, pack(InputAttrs{"x", kType}), kType});
  expect_invalid(graph, "two inputs are called \"x\"", "g: node 4 (input)");

  graph = sound();
  graph.append({&kOutput, {0}, pack(OutputAttrs{"z"}), kType});
  expect_invalid(graph, "two outputs are called \"z\"", "g: node 4 (output)");

  graph = sound();
  for (int i = 0; i < 2; ++i) {
    graph.append({&kParameter, {}, pack(ParameterAttrs{"w", kType}), kType});
  }
  expect_invalid(graph, "two parameters are called \"w\"", "g: node 5 (parameter)");
}

TEST(Verify, AGroupAndOnlyAGroupHasABody) {
  Graph graph = sound();
  graph.node(2).body = nullptr;
  expect_invalid(graph, "a group has no body", "g: node 2 (group)");
  graph = sound();
  graph.node(1).body = std::make_shared<const Graph>();
  expect_invalid(graph, "only a group has a body", "g: node 1 (neg) @ here");
}

TEST(Verify, ABodyFitsItsGroup) {
  expect_invalid(with_body("graph @b { %a = constant {value = f32[2] [1, 2]}\n output %a }"),
                 "the body has 0 inputs, the group has 1 operands", "g: node 2 (group)");
  expect_invalid(with_body("graph @b { %a = input : f32[3]\n output %a }"),
                 "operand 0 is f32[2], the body's input f32[3]", "g: node 2 (group)");
  expect_invalid(with_body("graph @b { %a = input : f32[2] }"),
                 "the body has 0 outputs, needed one", "g: node 2 (group)");
  expect_invalid(
      with_body("graph @b { %a = input : f32[2]\n %c = constant {value = f32 1}\n output %c }"),
      "the node has the type f32[2], the body's output f32[]", "g: node 2 (group)");
  Graph graph = sound();
  graph.node(2).operands = {kAbsent, 0};
  expect_invalid(graph, "the body has 1 inputs, the group has 2 operands", "g: node 2 (group)");
}

TEST(Verify, ABodyIsVerifiedToo) {
  Graph graph = sound();
  Graph body = *graph.node(2).body;
  body.node(1).type = {DType::F32, {9}};
  graph.node(2).body = std::make_shared<const Graph>(body);
  expect_invalid(graph, "the node has the type f32[9], the record infers f32[2]",
                 "g: node 2 (group) > b: node 1 (neg)");
}

}  // namespace
}  // namespace capra
