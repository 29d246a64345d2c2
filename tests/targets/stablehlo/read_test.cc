// What the reader refuses, where, and how it says so; and what it keeps.
#include "capra/targets/stablehlo/read/read.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capra/ir/structural_ops.h"
#include "capra/targets/stablehlo/read/import.h"

namespace capra::stablehlo {
namespace {

// A function with these operations; %x and %y are f32[2, 3], %d is f32[?, 3], %i is i32[4].
std::string module_with(std::string_view operations, std::string_view result = "%x") {
  return fmt::format(R"(module {{
  func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %d: tensor<?x3xf32>, %i: tensor<4xi32>) -> tensor<2x3xf32> {{
    {}
    return {} : tensor<2x3xf32>
  }}
}}
)",
                     operations, result);
}

struct Fault {
  std::string_view name;
  std::string_view operations;
  std::string_view code;
  std::string_view says;  ///< part of the message
  int column;             ///< of the third line
};

const Fault kFaults[] = {
    {"result", "%0 = stablehlo.add %x, %y : tensor<3x2xf32>", "type-mismatch",
     "an operand is tensor<2x3xf32>, needed tensor<3x2xf32>", 10},
    {"dtype", "%0 = stablehlo.exponential %i : tensor<4xi32>", "type-mismatch",
     "there is no stablehlo.exponential of tensor<4xi32>", 10},
    {"signature", "%0 = stablehlo.convert %x : (tensor<2x3xf16>) -> tensor<2x3xf64>",
     "type-mismatch", "found tensor<2x3xf16> for a value of type tensor<2x3xf32>", 34},
    {"convert shape", "%0 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<6xf64>",
     "type-mismatch", "found the result tensor<6xf64>, needed tensor<2x3xf64>", 10},
    {"reshape", "%0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<7xf32>", "type-mismatch",
     "tensor<2x3xf32> cannot become tensor<7xf32>", 10},
    {"dot",
     "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
     "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
     "type-mismatch", "the extents 3 and 2 of the operands meet", 10},
    {"reduce",
     "%c = stablehlo.constant dense<0.0> : tensor<f32>\n    "
     "%0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [2] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
     "attribute-invalid", "dimensions 2 is outside a tensor of rank 2", -10},
    {"reduction",
     "%c = stablehlo.constant dense<0.0> : tensor<f32>\n    "
     "%0 = stablehlo.reduce(%x init: %c) applies stablehlo.divide across dimensions = [1] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
     "op-unknown", "found a reduction that applies stablehlo.divide", -10},
    {"compare",
     "%0 = stablehlo.compare LT, %x, %y, SIGNED : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>",
     "attribute-invalid", "found the comparison SIGNED, needed FLOAT", 10},
    {"direction",
     "%0 = stablehlo.compare NEAR, %x, %y, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>",
     "attribute-invalid", "found the direction NEAR", 10},
    {"transpose",
     "%0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>",
     "attribute-invalid", "dims names an axis twice", 10},
    {"broadcast",
     "%0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x4xf32>",
     "type-mismatch", "tensor<2x3xf32> does not broadcast to tensor<2x4xf32>", 10},
    {"dynamic without a shape",
     "%0 = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<?x3xf32>) -> tensor<?x3xf32>",
     "type-mismatch", "the result has dynamic dims, and no shape is given", 10},
    {"shape",
     "%0 = stablehlo.dynamic_broadcast_in_dim %d, %i, dims = [0, 1] : "
     "(tensor<?x3xf32>, tensor<4xi32>) -> tensor<?x3xf32>",
     "type-mismatch", "the shape is tensor<4xi32>, needed tensor<2xi32>", 10},
    {"slice", "%0 = stablehlo.slice %x [0:2, 1:4] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "attribute-invalid", "found the box 1:4:1 in an extent of 3", 10},
    {"concatenate",
     "%0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     "type-mismatch", "found the result tensor<2x3xf32>, needed tensor<2x6xf32>", 10},
    {"gather",
     "%0 = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 3>, indices_are_sorted = false} : (tensor<2x3xf32>, tensor<4xi32>) -> "
     "tensor<4x3xf32>",
     "attribute-invalid", "found another gather than whole slices along one axis", 10},
    {"collapse", "%0 = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<5xf32>",
     "type-mismatch", "do not hold the same groups", 10},
    {"select", "%0 = stablehlo.select %x, %x, %y : tensor<2x3xf32>, tensor<2x3xf32>",
     "type-mismatch", "the condition is tensor<2x3xf32>, needed tensor<2x3xi1>", 10},
    {"index", "%0 = arith.constant 0 : index\n    %1 = stablehlo.negate %0 : tensor<i64>",
     "type-mismatch", "operand 0 is an index, needed a tensor", -10},
    {"operands", "%0 = stablehlo.add %x : tensor<2x3xf32>", "operand-count",
     "found 1 operands, needed 2", 10},
    {"unknown", "%0 = stablehlo.cosine %x : tensor<2x3xf32>", "op-unknown",
     "'stablehlo.cosine' is no operation", 10},
    {"undefined", "%0 = stablehlo.add %x, %z : tensor<2x3xf32>", "text-syntax",
     "found '%z', needed a value that is defined above", 28},
    {"defined twice", "%x = stablehlo.negate %x : tensor<2x3xf32>", "text-syntax",
     "found '%x', needed a name that no other value has", 5},
    {"element", "%0 = stablehlo.constant dense<[1, 300]> : tensor<2xui8>", "type-mismatch",
     "found '300', needed an element of tensor<2xui8>", 39},
    {"elements", "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>", "type-mismatch",
     "found elements of shape [2], needed those of tensor<3xf32>", 29},
    {"bytes", "%0 = stablehlo.constant dense<\"0x0000\"> : tensor<3xf32>", "type-mismatch",
     "found 2 bytes, tensor<3xf32> has 12", 35},
    {"ragged", "%0 = stablehlo.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>", "text-syntax",
     "needed a list of 2", 46},
    {"global", "%0 = util.global.load @w : tensor<2xf32>", "text-syntax",
     "found '@w', needed a global", 27},
    {"composite",
     "%0 = stablehlo.composite \"a\" %x {composite_attributes = {}, decomposition = @b, version = "
     "1 "
     ": i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "text-syntax", "found no function @b for the composite", 30},
    {"version",
     "%0 = stablehlo.composite \"a\" %x {composite_attributes = {}, decomposition = @b, version = "
     "2147483648 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
     "text-syntax", "found '2147483648', needed a number of 32 bits", 95},
    {"too large", "%0 = stablehlo.iota dim = 0 : tensor<9223372036854775807x9xf32>",
     "shape-too-large", "cannot be counted", 35},
    {"a byte", "%0 = stablehlo.add %x ; %y : tensor<2x3xf32>", "text-syntax", "found ';'", 27},
};

class ReadFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(ReadFaults, AreNamedWithTheirPlace) {
  const Fault& fault = GetParam();
  const std::string text = module_with(fault.operations);
  const Result<Module> module = read_module(text, "file");
  ASSERT_FALSE(module.ok()) << text;
  EXPECT_EQ(module.error().code, fault.code) << to_text(module.error());
  EXPECT_NE(module.error().message.find(fault.says), std::string::npos) << to_text(module.error());
  // Negative: of the second operation.
  const int line = fault.column < 0 ? 4 : 3;
  EXPECT_EQ(module.error().at, fmt::format("file:{}:{}", line, std::abs(fault.column)))
      << to_text(module.error());
}

INSTANTIATE_TEST_SUITE_P(Seeded, ReadFaults, ::testing::ValuesIn(kFaults), [](const auto& tested) {
  std::string name(tested.param.name);
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

TEST(Read, FaultsOfFunctionsAreNamed) {
  const auto refusal = [](std::string_view text) { return to_text(read_module(text).error()); };
  EXPECT_NE(refusal("module {\n  func.func @f(%x: tensor<f32>) -> tensor<f64> {\n    return %x : "
                    "tensor<f32>\n  }\n}\n")
                .find("the function declares other results than it returns"),
            std::string::npos);
  EXPECT_NE(refusal("module {\n  func.func @f() {\n    return\n  }\n  func.func @f() {\n    "
                    "return\n  }\n}\n")
                .find("found '@f', needed a name that no other function or global has"),
            std::string::npos);
  EXPECT_NE(refusal("module {").find("found the end of the text, needed '}'"), std::string::npos);
  EXPECT_NE(refusal(R"(module {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.composite "c" %x {composite_attributes = {}, decomposition = @b, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @b(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}
)")
                .find("@b has other types than the composite"),
            std::string::npos);
}

TEST(Read, LayoutNamesAndCommentsMeanNothing) {
  const Module module = read_module(
                            "module{ // a comment\n func.func @f(%x:tensor<2xf32>)->tensor<"
                            "2xf32>{%sum=stablehlo.add %x,%x:tensor<2xf32> return %sum:"
                            "tensor<2xf32>}}")
                            .value_or_throw();
  EXPECT_EQ(print_module(module), R"(module {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
)");
}

TEST(Read, KeepsAttributesOfTheModule) {
  const std::string text =
      "module attributes {skainet.schedule = {\"%3\" = {matmul = \"tile=4\"}}} {\n"
      "  func.func @f() {\n    return\n  }\n}\n";
  EXPECT_EQ(print_module(read_module(text).value_or_throw()), text);
}

TEST(Read, GlobalsBecomeParametersByTheirKeys) {
  const std::string text = R"(module {
  util.global private @"w 1" = #flow.parameter.named<"model"::"a.\22w"> : tensor<2xf32>
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = util.global.load @"w 1" : tensor<2xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
)";
  const Module module = read_module(text).value_or_throw();
  EXPECT_EQ(print_module(module), text);
  const Graph graph = import_module(module).value_or_throw();
  ASSERT_EQ(graph.parameters().size(), 1U);
  EXPECT_EQ(graph.node(graph.parameters()[0]).attrs_as<ParameterAttrs>().path, "a.\"w");
}

TEST(Read, ImportNamesWhatNoOpSays) {
  const std::string bits = module_with(
      "%0 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xui32>\n    "
      "%1 = stablehlo.not %0 : tensor<2x3xui32>\n    "
      "%2 = stablehlo.bitcast_convert %1 : (tensor<2x3xui32>) -> tensor<2x3xf32>",
      "%2");
  const Module module = read_module(bits).value_or_throw();
  EXPECT_EQ(import_module(module).error().code, "symbol-unbound");  // %d
  const ImportOptions options{
      .inputs = {
          {DType::F32, {2, 3}}, {DType::F32, {2, 3}}, {DType::F32, {5, 3}}, {DType::I32, {4}}}};
  const Result<Graph> graph = import_module(module, options);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, "op-not-legal");
  EXPECT_EQ(graph.error().at, "@main, %1 = stablehlo.not");
  EXPECT_EQ(import_module(module, {.function = "other"}).error().code, "op-unknown");
}

// f32[1] repeated to as many extents of 1 as `parts`, joined, hold.
std::string repeated(std::string_view parts, int rank) {
  std::string ones;
  for (int i = 0; i < rank; ++i) ones += "1x";
  return fmt::format(R"(module {{
  func.func @main(%x: tensor<1xf32>) -> tensor<{0}f32> {{
    {1}
    %out = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [{2}] : (tensor<1xf32>, tensor<{3}xi32>) -> tensor<{0}f32>
    return %out : tensor<{0}f32>
  }}
}}
)",
                     ones, parts, rank - 1, rank);
}

TEST(Import, ShapesAreOfAsManyExtentsAsTheResult) {
  const auto imported = [](const std::string& text) {
    return import_module(read_module(text).value_or_throw());
  };
  const std::string most = "%shape = stablehlo.constant dense<1> : tensor<64xi32>";
  EXPECT_TRUE(imported(repeated(most, 64)).ok());
  const std::string more = "%shape = stablehlo.constant dense<1> : tensor<65xi32>";
  const std::string joined =
      "%a = stablehlo.constant dense<1> : tensor<65xi32>\n    "
      "%b = stablehlo.constant dense<1> : tensor<1xi32>\n    "
      "%shape = stablehlo.concatenate %a, %b, dim = 0 : (tensor<65xi32>, tensor<1xi32>) -> "
      "tensor<66xi32>";
  for (const auto& [parts, rank] : {std::pair(more, 65), std::pair(joined, 66)}) {
    const Result<Graph> graph = imported(repeated(parts, rank));
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.error().code, "op-not-legal");
    EXPECT_EQ(graph.error().message, "a shape depends on data");
  }
  // Such a module has no text that reads.
  Function main;
  main.name = "main";
  const ValueId two = main.append(
      {"stablehlo.constant", {}, {DType::I32, {1}}, {{"value", Array::scalar(DType::I32, 2)}}});
  main.results = {
      main.append({"stablehlo.dynamic_iota", {two}, {DType::I64, {2, 2}}, {{"dim", int64_t{1}}}})};
  const Result<Graph> graph = import_module({{}, {main}});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, "type-mismatch");
  EXPECT_EQ(graph.error().message, "the shape has 1 extents, needed 2");
}

// layer_norm of %x and one operand more, which is gamma where none is absent.
Result<Graph> layer_norm_with(std::string_view absent) {
  const std::string text = fmt::format(R"(module {{
  func.func @main(%x: tensor<2x3xf32>, %g: tensor<3xf32>) -> tensor<2x3xf32> {{
    %0 = stablehlo.composite "capra.layer_norm" %x, %g {{composite_attributes = {{eps = 1.0e-5 : f64{}}}, decomposition = @body, version = 1 : i32}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }}
  func.func private @body(%x: tensor<2x3xf32>, %g: tensor<3xf32>) -> tensor<2x3xf32> {{
    return %x : tensor<2x3xf32>
  }}
}}
)",
                                       absent);
  return import_module(read_module(text).value_or_throw(), {.whole_composites = true});
}

TEST(Import, AbsentOperandsStandBeforeOthers) {
  const auto operands_of = [](const Graph& graph) {
    const NodeId result = graph.node(graph.outputs()[0]).operands[0];
    return graph.node(result).operands.size();
  };
  const Result<Graph> gamma = layer_norm_with("");
  ASSERT_TRUE(gamma.ok()) << to_text(gamma.error());
  const Result<Graph> beta = layer_norm_with(", absent_operands = array<i64: 1>");
  ASSERT_TRUE(beta.ok()) << to_text(beta.error());
  EXPECT_EQ(operands_of(*beta), 3U);
  EXPECT_NE(*gamma, *beta);
  for (const std::string_view wrong :
       {"1 : i64", "\"1\"", "array<i64: 2>", "array<i64: -1>", "array<i64: 1, 1>",
        "array<i64: 1, 7>", "array<i64: 2, 1>"}) {
    const Result<Graph> refused = layer_norm_with(fmt::format(", absent_operands = {}", wrong));
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().code, "attribute-invalid") << to_text(refused.error());
    EXPECT_TRUE(refused.error().message.starts_with("absent_operands of layer_norm"))
        << to_text(refused.error());
  }
}

}  // namespace
}  // namespace capra::stablehlo
