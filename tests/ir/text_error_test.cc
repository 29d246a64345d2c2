// What text that cannot be read gets: a code, the line and column, what was found and needed.
#include <gtest/gtest.h>

#include "capra/ir/text.h"
#include "tests/ir/sample_ops.h"

namespace capra {
namespace {

struct Case {
  const char* text;
  const char* code;
  const char* at;
  const char* message;
  const char* help;
};

// Line 1 is `graph @g {`, line 2 the input x.
const char* const kPreamble = "graph @g {\n  %x = input : f32[2, 3]\n";

const Case kNodes[] = {
    {"%y = ngg %x }", "op-unknown", "text:3:6", "there is no op 'ngg'", "did you mean 'neg'?"},
    {"%y = inputs : f32[] }", "op-unknown", "text:3:6", "there is no op 'inputs'",
     "did you mean 'input'?"},
    {"%y = transmogrify %x }", "op-unknown", "text:3:6", "there is no op 'transmogrify'", ""},
    {"%y = neg %z }", "text-syntax", "text:3:10",
     "found '%z', needed the name of a value defined above", "did you mean '%x'?"},
    {"%y = neg %y }", "text-syntax", "text:3:10",
     "found '%y', needed the name of a value defined above", "did you mean '%x'?"},
    {"%x = neg %x }", "text-syntax", "text:3:1",
     "found '%x', needed a name that is not taken by a value above", ""},
    {"%1x = neg %x }", "text-syntax", "text:3:1",
     "found '%1x', needed a name that starts with a letter, or a number", ""},
    {"neg %x }", "text-syntax", "text:3:1",
     "found 'neg', needed a name for the result, as in '%y = neg %x'", ""},
    {"%y = output %x }", "text-syntax", "text:3:6",
     "found 'output', needed an op with a result; an output has none", ""},
    {"%y neg %x }", "text-syntax", "text:3:4", "found 'neg', needed '=' after the name of a value",
     ""},
    {"%y = neg %x : f32[3, 2] }", "type-mismatch", "text:3:13",
     "written f32[3, 2], inferred f32[2, 3] for neg", "correct the type, or leave it out"},
    {"%y = neg }", "operand-count", "text:3:6", "neg takes (x), found 0 operands", ""},
    {"%y = neg %x %x }", "operand-count", "text:3:6", "neg takes (x), found 2 operands", ""},
    {"%y = lerp %x _ }", "operand-count", "text:3:6",
     "lerp takes (a, b, weight (optional), bias (optional)), found 2 operands", ""},
    {"%y = join %x _ }", "operand-count", "text:3:6", "join takes (parts...), found 2 operands",
     ""},
    {"%i = input : i8[]\n%y = neg %i }", "operand-dtype", "text:4:6: neg(i8[])",
     "neg: x is not a float", ""},
    {"%y = mul %x, }", "text-syntax", "text:3:14", "found '}', needed an operand after ','", ""},
    {"%y = mul 1 2 }", "text-syntax", "text:3:10",
     "found '1', needed a value among the operands, to give numbers a dtype", ""},
    {"%y = mul %x true }", "text-syntax", "text:3:13", "found 'true', needed a value of f32", ""},
    {"%y = mul %x 1e99 }", "text-syntax", "text:3:13", "found '1e99', needed a value of f32", ""},
    {"%i = input : u8[]\n%y = mul %i 256 }", "text-syntax", "text:4:13",
     "found '256', needed a value of u8", ""},
    {"%i = input : i32[]\n%y = mul %i 0.5 }", "text-syntax", "text:4:13",
     "found '0.5', needed a value of i32", ""},
    // Attributes.
    {"%y = join %x {axes = 1} }", "attribute-unknown", "text:3:15", "join has no attribute 'axes'",
     "did you mean 'axis'?"},
    {"%y = join %x {elephants = 1} }", "attribute-unknown", "text:3:15",
     "join has no attribute 'elephants'", "join takes axis"},
    {"%y = neg %x {a = 1} }", "attribute-unknown", "text:3:14", "neg has no attribute 'a'",
     "neg takes no attributes"},
    {"%y = join %x {axis = 1.5} }", "attribute-invalid", "text:3:22",
     "join: attribute 'axis' is int, found '1.5'", ""},
    {"%y = join %x {axis = 1, axis = 2} }", "text-syntax", "text:3:25",
     "found 'axis', needed each attribute once", ""},
    {"%y = join %x {axis 1} }", "text-syntax", "text:3:20",
     "found '1', needed '=' after the name of an attribute", ""},
    {"%y = join %x {axis = 1 }", "text-syntax", "text:3:25",
     "found the end of the text, needed a node such as '%y = neg %x', or '}'", ""},
    {"%y = everything %x {flag = 1} }", "attribute-invalid", "text:3:28",
     "everything: attribute 'flag' is bool, found '1'", ""},
    {"%y = everything %x {rate = \"1\"} }", "attribute-invalid", "text:3:28",
     "everything: attribute 'rate' is float, found '\"1\"'", ""},
    {"%y = everything %x {word = a} }", "attribute-invalid", "text:3:28",
     "everything: attribute 'word' is string, found 'a'", ""},
    {"%y = everything %x {kind = f33} }", "attribute-invalid", "text:3:28",
     "everything: attribute 'kind' is dtype, found 'f33'", ""},
    {"%y = everything %x {list = [1, a]} }", "text-syntax", "text:3:32",
     "found 'a', needed a whole number", ""},
    {"%y = everything %x {box = [-1]} }", "text-syntax", "text:3:28",
     "found '-1', needed a dim: a number from 0 or a name", ""},
    {"%y = everything %x {word = \"\\q\"} }", "text-syntax", "text:3:28",
     "found '\"\\q\"', needed one of the escapes \\\" \\\\ \\n \\t \\xHH", ""},
    {"%y = constant }", "attribute-invalid", "text:3:6", "constant needs the attribute 'value'",
     ""},
    {"%y = constant {} }", "attribute-invalid", "text:3:16", "constant needs the attribute 'value'",
     ""},
    // Types and arrays.
    {"%y = input }", "text-syntax", "text:3:12", "found '}', needed ':' and the type of the input",
     ""},
    {"%y = input : f23[2] }", "text-syntax", "text:3:14",
     "found 'f23', needed a type such as f32[2, 3]", "did you mean 'f32'?"},
    {"%y = input : f32[2 3] }", "text-syntax", "text:3:20", "found '3', needed ',' or ']'", ""},
    {"%y = input : f32[4611686018427387904, 8] }", "shape-too-large", "text:3:14",
     "f32[4611686018427387904, 8] has more bytes than 63 bits can count", ""},
    {"%y = constant {value = f32[2] [1, 2, 3]} }", "text-syntax", "text:3:36",
     "found ',', needed ']' after 2 elements along axis 0", ""},
    {"%y = constant {value = f32[3] [1, 2]} }", "text-syntax", "text:3:36",
     "found ']', needed ',' and 3 elements along axis 0", ""},
    {"%y = constant {value = f32[2, 1] [1, 2]} }", "text-syntax", "text:3:35",
     "found '1', needed '[' and 1 elements along axis 1", ""},
    {"%y = constant {value = f32[tokens] [1]} }", "text-syntax", "text:3:24",
     "found f32[tokens], needed a type whose dims are numbers", ""},
    {"%y = constant {value = f32[1000000000000] [1]} }", "text-syntax", "text:3:43",
     "found '[', needed 1000000000000 elements for f32[1000000000000]", ""},
    {"%y = constant {value = f32[1000000000000] splat 1} }", "shape-too-large", "text:3:24",
     "f32[1000000000000] is larger than splat may make in one text", ""},
    {"%y = constant {value = f32 0x7fc0000} }", "text-syntax", "text:3:28",
     "found '0x7fc0000', needed a value of f32", ""},
    {"%y = constant {value = i8 -129} }", "text-syntax", "text:3:27",
     "found '-129', needed a value of i8", ""},
    {"%y = constant {value = bool 1} }", "text-syntax", "text:3:29",
     "found '1', needed a value of bool", ""},
    // Paths, notes, strings, bytes.
    {"%y = neg %x @ here }", "text-syntax", "text:3:15", "found 'here', needed a path in quotes",
     ""},
    {"%y = neg %x @ \"a }", "text-syntax", "text:3:15",
     "found a string without an end on its line, needed a path in quotes", ""},
    {"%y = neg %x !(a) }", "text-syntax", "text:3:14", "found '(', needed '{' and notes after '!'",
     ""},
    {"%y = neg %x !{a = b} }", "text-syntax", "text:3:19", "found 'b', needed a string or a number",
     ""},
    {"%y = neg %x \x07 }", "text-syntax", "text:3:13",
     "found byte 7, needed a node such as '%y = neg %x', or '}'", ""},
    // Names and groups.
    {"%y = input {name = \"x\"} : f32[] }", "graph-invalid", "text:3:6",
     "two inputs are called \"x\"", "give each its own name"},
    {"output %x\noutput %x }", "graph-invalid", "text:4:1", "two outputs are called \"x\"",
     "give each its own name"},
    {"%p = parameter {path = \"w\"} : f32[]\n%q = parameter {path = \"w\"} : f32[] }",
     "graph-invalid", "text:4:6", "two parameters are called \"w\"", "give each its own name"},
    {"%y = group %x }", "text-syntax", "text:3:15",
     "found '}', needed 'body' and the nodes of the group", ""},
    {"%y = group %x body { %a = input : f32[2, 3] } }", "graph-invalid", "text:3:15",
     "a group has a body with one output, found 0", ""},
    {"%y = group %x body { %a = input : f32[2, 3]\n%b = input : f32[]\noutput %a } }",
     "graph-invalid", "text:3:15", "the body has 2 inputs, the group has 1 operands", ""},
    {"%y = group %x body { %a = input : f32[2, 4]\noutput %a } }", "graph-invalid", "text:3:15",
     "input 0 of the body is f32[2, 4], the operand is f32[2, 3]", ""},
    {"%y = group %x body { %a = input : f32[2, 3]\noutput %x } }", "text-syntax", "text:4:8",
     "found '%x', needed the name of a value defined above", "did you mean '%a'?"},
    {"%y = view %x {shape = [4611686018427387904, 8]} }", "shape-too-large",
     "text:3:6: view(f32[2, 3])",
     "view: the result f32[4611686018427387904, 8] has more bytes than 63 bits can count", ""},
};

void expect_failure(const std::string& text, const Case& wanted) {
  const Result<Graph> graph = parse_graph(text, sample::ops());
  ASSERT_FALSE(graph.ok()) << text;
  EXPECT_EQ(graph.error().code, wanted.code) << text;
  EXPECT_EQ(graph.error().at, wanted.at) << text;
  EXPECT_EQ(graph.error().message, wanted.message) << text;
  EXPECT_EQ(graph.error().help, wanted.help) << text;
  EXPECT_NE(find_diagnostic_code(graph.error().code), nullptr);
}

TEST(TextErrors, OfNodes) {
  for (const Case& one : kNodes) expect_failure(kPreamble + std::string(one.text), one);
}

TEST(TextErrors, OfGraphs) {
  const Case cases[] = {
      {"", "text-syntax", "text:1:1", "found the end of the text, needed 'graph @name {'", ""},
      {"\n # only a comment\n", "text-syntax", "text:3:1",
       "found the end of the text, needed 'graph @name {'", ""},
      {"tape @t {}", "text-syntax", "text:1:1", "found 'tape', needed 'graph @name {'", ""},
      {"graph g {}", "text-syntax", "text:1:7", "found 'g', needed '@' and the name of the graph",
       ""},
      {"graph @g", "text-syntax", "text:1:9",
       "found the end of the text, needed '{' and the nodes of the graph", ""},
      {"graph @g {} graph @h {}", "text-syntax", "text:1:13",
       "found 'graph', needed the end of the text", ""},
  };
  for (const Case& one : cases) expect_failure(one.text, one);
}

TEST(TextErrors, NameTheSource) {
  const Result<Graph> graph = parse_graph("graph @g {\n\t%y = nope }", sample::ops(), "a.tir");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().at, "a.tir:2:7");
}

TEST(TextErrors, LongTokensAreCutInMessages) {
  const Result<Graph> graph = parse_graph("graph @g { %y = " + std::string(5000, 'a') + "}", {});
  ASSERT_FALSE(graph.ok());
  EXPECT_LT(graph.error().message.size(), 200u);
}

TEST(TextErrors, ANumberNeedsTheOpConstant) {
  static constexpr const OpDef* kOnlyMul[] = {&sample::kMul};
  const Result<Graph> graph =
      parse_graph("graph @g { %x = input : f32[]\n%y = mul %x 2 }", kOnlyMul);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, "op-unknown");
  EXPECT_EQ(graph.error().at, "text:2:13");
}

TEST(TextErrors, GroupsNestEightDeepAndNoDeeper) {
  const auto nested = [](int depth) {
    std::string text = "graph @g { %x = input : f32[]\n";
    for (int i = 0; i < depth; ++i) text += "%y = group %x body { %x = input : f32[]\n";
    for (int i = 0; i < depth; ++i) text += "output %x }\n";
    return text + "}";
  };
  EXPECT_TRUE(parse_graph(nested(8), {}).ok());
  const Result<Graph> graph = parse_graph(nested(9), {});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "found 'group', needed at most 8 levels of groups");
  // A text of nothing but openings ends at once, without deep recursion.
  std::string openings = "graph @g { %x = input : f32[]\n";
  for (int i = 0; i < 100000; ++i) openings += "%y = group %x body { %x = input : f32[]\n";
  EXPECT_FALSE(parse_graph(openings, {}).ok());
}

TEST(TextErrors, ATypeHas32DimsAtMost) {
  const auto ones = [](int rank) {
    std::string text = "graph @g { %x = input : f32[1";
    for (int i = 1; i < rank; ++i) text += ", 1";
    return text + "] }";
  };
  EXPECT_TRUE(parse_graph(ones(32), {}).ok());
  const Result<Graph> graph = parse_graph(ones(33), {});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, "text-syntax");
}

TEST(TextErrors, SplatsOfOneTextShareABudget) {
  std::string text = "graph @g {\n";
  for (int i = 0; i < 3; ++i) {
    text += "%" + std::to_string(i) + " = constant {value = u8[67108864] splat 1}\n";
  }
  const Result<Graph> graph = parse_graph(text + "}", sample::ops());
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, "shape-too-large");
  EXPECT_EQ(graph.error().at, "text:4:24");
}

TEST(TextErrors, OfArraysAndAttributesAlone) {
  const Result<Array> array = parse_array("f32[2] [1, 2] 3");
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(array.error().at, "text:1:15");
  const Result<Attrs> attrs = parse_attrs("count = x", attrs_of<sample::EverythingAttrs>());
  ASSERT_FALSE(attrs.ok());
  EXPECT_EQ(attrs.error().code, "attribute-invalid");
  EXPECT_EQ(attrs.error().at, "text:1:9");
}

}  // namespace
}  // namespace capra
