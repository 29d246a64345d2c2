// Graph text: what is printed, what may be left out, and printing again after parsing.
#include "capra/ir/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "capra/ir/structural_ops.h"
#include "capra/ir/verify.h"
#include "tests/ir/sample_ops.h"

namespace capra {
namespace {

Graph parse(std::string_view text) {
  Result<Graph> graph = parse_graph(text, sample::ops());
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : to_text(graph.error())) << "\n" << text;
  if (!graph.ok()) return Graph();
  const Status verified = verify(*graph);
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : to_text(verified.error()));
  return *std::move(graph);
}

void expect_identity(std::string_view canonical) {
  const Graph graph = parse(canonical);
  const std::string once = print_graph(graph);
  EXPECT_EQ(once, canonical);
  EXPECT_EQ(print_graph(parse(once)), once);
}

TEST(Text, PrintsTheHeaderExample) {
  expect_identity(
      "graph @name {\n"
      "  %x = input {name = \"x\"} : f32[tokens, 4]\n"
      "  %1 = neg %x : f32[tokens, 4] @ \"encoder.layer.0\" !{legalizedFrom = \"gelu\", "
      "maxAbsError = 0.00048, count = 3, whole = 3.0}\n"
      "  output %1 {name = \"y\"}\n"
      "}\n");
}

TEST(Text, PrintsEveryAttributeKindInSchemaOrder) {
  const Graph graph = parse("graph @g { %x = input : f32[tokens]\n %y = everything %x }");
  EXPECT_EQ(print_node(graph, 1),
            "%y = everything %x {flag = true, count = -3, rate = 0.1, word = \"a \\\"b\\\"\\n\", "
            "kind = bf16, list = [1, -2], box = [tokens, 4], data = f16 0.1} : f32[tokens]");
  expect_identity(print_graph(graph));
}

TEST(Text, TakesWhatMayBeLeftOut) {
  const Graph graph = parse(R"(
      graph @g {            # a comment
        %x = input : f32[2, 3]
        %p = parameter {path = "w"} : f32[3]
        %1 = mul %x, %p     # commas, numbers that are not positions, no types
        %7 = mul 0.5
               %1           # an operand on the next line
        %9 = lerp %7 %7 _ %7
        %8 = lerp %7 %7 %7 _
        output %9
      })");
  EXPECT_EQ(print_graph(graph),
            "graph @g {\n"
            "  %x = input {name = \"x\"} : f32[2, 3]\n"
            "  %p = parameter {path = \"w\"} : f32[3]\n"
            "  %2 = mul %x %p : f32[2, 3]\n"
            "  %3 = constant {value = f32 0.5} : f32[]\n"
            "  %4 = mul %3 %2 : f32[2, 3]\n"
            "  %5 = lerp %4 %4 _ %4 : f32[2, 3]\n"
            "  %6 = lerp %4 %4 %4 : f32[2, 3]\n"
            "  output %5 {name = \"\"}\n"
            "}\n");
}

TEST(Text, ANumberTakesTheDtypeOfTheLastValue) {
  const Graph graph = parse(R"(graph @g {
    %c = input : bool[2]
    %x = input : i16[2]
    %y = select %c -7 %x
    %b = select %c %c true
    %h = input : bf16[]
    %z = mul %h 0.1
  })");
  EXPECT_EQ(print_node(graph, 2), "%2 = constant {value = i16 -7} : i16[]");
  EXPECT_EQ(print_node(graph, 4), "%4 = constant {value = bool true} : bool[]");
  EXPECT_EQ(print_node(graph, 7), "%7 = constant {value = bf16 0.1} : bf16[]");
}

TEST(Text, NamesThatAreTakenTwiceOrAreNoIdentifiersPrintAsNumbers) {
  Graph graph("two words");
  for (const char* name : {"a", "a", "b", "1x", ""}) {
    const std::string input = "i" + std::to_string(graph.size());
    const TensorType type{DType::F32, {}};
    graph.append({&kInput, {}, pack(InputAttrs{input, type}), type, name});
  }
  EXPECT_EQ(print_graph(graph),
            "graph @\"two words\" {\n"
            "  %0 = input {name = \"i0\"} : f32[]\n"
            "  %1 = input {name = \"i1\"} : f32[]\n"
            "  %b = input {name = \"i2\"} : f32[]\n"
            "  %3 = input {name = \"i3\"} : f32[]\n"
            "  %4 = input {name = \"i4\"} : f32[]\n"
            "}\n");
  expect_identity(print_graph(graph));
}

TEST(Text, GroupsNest) {
  expect_identity(
      "graph @g {\n"
      "  %x = input {name = \"x\"} : f32[tokens]\n"
      "  %1 = group %x %x {label = \"outer\"} : f32[tokens] @ \"p\" !{reason = \"r\"} body @body "
      "{\n"
      "    %a = input {name = \"a\"} : f32[tokens]\n"
      "    %b = input {name = \"b\"} : f32[tokens]\n"
      "    %2 = group %b {label = \"inner\"} : f32[tokens] body @\"a body\" {\n"
      "      %x = input {name = \"x\"} : f32[tokens]\n"
      "      %1 = neg %x : f32[tokens]\n"
      "      output %1 {name = \"\"}\n"
      "    }\n"
      "    %3 = mul %a %2 : f32[tokens]\n"
      "    output %3 {name = \"y\"}\n"
      "  }\n"
      "  output %1 {name = \"y\"}\n"
      "}\n");
}

TEST(Text, GraphsComeBackEqual) {
  const std::string text =
      "graph @g {\n"
      "  %x = input {name = \"x\"} : f32[2]\n"
      "  %y = neg %x : f32[2] @ \"a.b\" !{\"odd name\" = 1e-300}\n"
      "  output %y {name = \"y\"}\n"
      "}\n";
  EXPECT_TRUE(parse(text) == parse(print_graph(parse(text))));
}

TEST(Text, ATapePrintsLikeAGraph) {
  Context context = TraceSink::begin("t");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {2}});
  sink.output(sample::neg(x), "y");
  EXPECT_EQ(print_tape(sink.tape()),
            "tape @t {\n"
            "  %x = input {name = \"x\"} : f32[2]\n"
            "  %1 = neg %x : f32[2]\n"
            "  output %1 {name = \"y\"}\n"
            "}\n");
}

// --- arrays -------------------------------------------------------------------------------------

void expect_array_identity(std::string_view text) {
  const Result<Array> array = parse_array(text);
  ASSERT_TRUE(array.ok()) << text << "\n" << to_text(array.error());
  EXPECT_EQ(print_array(*array), text);
}

TEST(TextArray, CanonicalTextsStay) {
  for (const char* text : {"f32 0.5",
                           "f64 -0",
                           "f64 5e-324",
                           "f64 1.7976931348623157e+308",
                           "f32 1e-45",
                           "f32 3.4028235e+38",
                           "f32 nan",
                           "f32 -inf",
                           "f32 0x7fc00001",
                           "f32 0xffc00000",
                           "f32 0x7f800001",
                           "f64 0x7ff8000000000001",
                           "f16 0x7e01",
                           "bf16 0xffc0",
                           "f16 6e-08",
                           "f16 65500",
                           "bf16 0.1",
                           "f16 0.1",
                           "bf16 9e-41",
                           "i64 -9223372036854775808",
                           "u64 18446744073709551615",
                           "i8 -128",
                           "u8 255",
                           "bool true",
                           "f32[0] []",
                           "f32[2, 0, 3] []",
                           "f32[2, 2] [[1, 2], [3, 4]]",
                           "i32[1, 2, 1] [[[1], [-2]]]",
                           "bool[3] [true, false, true]",
                           "f32[2] [nan, 0x7fc00002]",
                           "f32[4, 5] splat 0.5",
                           "f32[17] splat -0",
                           "f32[16] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"}) {
    expect_array_identity(text);
  }
}

TEST(TextArray, ReadsOtherSpellings) {
  EXPECT_EQ(print_array(*parse_array("f32[] 1")), "f32 1");
  EXPECT_EQ(print_array(*parse_array("f32[3] splat 2.50")), "f32[3] [2.5, 2.5, 2.5]");
  EXPECT_EQ(print_array(*parse_array("f32[2]\n[ 1 ,\n 0x3f800000 ]")), "f32[2] [1, 1]");
  EXPECT_EQ(print_array(*parse_array("f32 16777217")), "f32 16777216");  // one rounding, to even
}

TEST(TextArray, Every16BitFloatSurvives) {
  for (const DType dtype : {DType::F16, DType::BF16}) {
    Array array = Array::zeros(dtype, {65536});
    const std::span<uint16_t> bits = array.mutable_as<uint16_t>();
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    const Result<Array> back = parse_array(print_array(array));
    ASSERT_TRUE(back.ok()) << to_text(back.error());
    EXPECT_TRUE(*back == array);
  }
}

TEST(TextArray, RandomBitsSurvive) {
  std::mt19937_64 random(1);
  for (const DType dtype : all_dtypes()) {
    if (dtype == DType::Bool) continue;
    Array array = Array::zeros(dtype, {500});
    std::byte* bytes = array.mutable_data();
    for (size_t i = 0; i < array.byte_size(); ++i) bytes[i] = static_cast<std::byte>(random());
    const Result<Array> back = parse_array(print_array(array));
    ASSERT_TRUE(back.ok()) << to_text(back.error());
    EXPECT_TRUE(*back == array) << dtype_name(dtype);
  }
}

TEST(TextAttrs, OmittedOnesHaveTheirDefaults) {
  const AttrSchema schema = attrs_of<sample::EverythingAttrs>();
  const Result<Attrs> attrs = parse_attrs("count = 5, rate = 2, list = []", schema);
  ASSERT_TRUE(attrs.ok()) << to_text(attrs.error());
  const auto typed = unpack<sample::EverythingAttrs>(*attrs);
  EXPECT_EQ(typed.count, 5);
  EXPECT_EQ(typed.rate, 2.0);
  EXPECT_TRUE(typed.list.empty());
  EXPECT_TRUE(typed.flag);
  EXPECT_EQ(typed.word, sample::EverythingAttrs().word);
}

// --- random graphs ------------------------------------------------------------------------------

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {}

  Graph make(int nodes, int depth) {
    Graph graph(word());
    std::vector<NodeId> values;  // all of one type, so that any op takes any of them
    const TensorType type{DType::F32, {Dim("tokens"), 3}};
    for (int i = 0; i < 2; ++i) {
      const std::string name = "in" + std::to_string(i) + word();
      values.push_back(graph.append({&kInput, {}, pack(InputAttrs{name, type}), type, label()}));
    }
    for (int i = 0; i < nodes; ++i) values.push_back(node(graph, values, type, depth));
    graph.append({&kOutput, {pick(values)}, pack(OutputAttrs{word()}), type, ""});
    return graph;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  NodeId pick(const std::vector<NodeId>& values) { return values[below(values.size())]; }
  std::string label() {
    return below(2) == 0 ? "" : "v" + std::to_string(below(8));  // some collide
  }
  // Of the characters up to U+07FF, as UTF-8.
  std::string word() {
    std::string text;
    for (uint64_t i = below(4); i > 0; --i) {
      const uint64_t character = below(2) == 0 ? below(0x80) : below(0x800);
      if (character >= 0x80) text += static_cast<char>(0xc0 | (character >> 6));
      text += static_cast<char>(character < 0x80 ? character : 0x80 | (character & 0x3f));
    }
    return text;
  }

  NodeId node(Graph& graph, const std::vector<NodeId>& values, const TensorType& type, int depth) {
    Node node{.op = &sample::kNeg, .operands = {pick(values)}, .attrs = {}, .type = type};
    switch (below(6)) {
      case 0:
        node.op = &sample::kMul;
        node.operands.push_back(pick(values));
        break;
      case 1:
        node.op = &sample::kLerp;
        node.operands = {pick(values), pick(values), below(2) == 0 ? kAbsent : pick(values),
                         pick(values)};
        break;
      case 2:
        node.op = &sample::kJoin;
        for (uint64_t more = below(3); more > 0; --more) node.operands.push_back(pick(values));
        node.attrs = pack(sample::JoinAttrs{static_cast<int64_t>(below(9)) - 4});
        break;
      case 3: {
        node.op = &sample::kEverything;
        sample::EverythingAttrs attrs;
        attrs.rate = std::bit_cast<double>(random_());
        attrs.word = word();
        attrs.data = Array::zeros(DType::F32, {static_cast<int64_t>(below(3)), 2});
        for (float& element : attrs.data.mutable_as<float>()) {
          element = std::bit_cast<float>(static_cast<uint32_t>(random_()));
        }
        node.attrs = pack(attrs);
        break;
      }
      case 4:
        if (depth > 0) {
          auto body = std::make_shared<const Graph>(make(3, depth - 1));
          node.op = &kGroup;
          node.operands = {pick(values), pick(values)};
          node.attrs = pack(GroupAttrs{word()});
          node.body = std::move(body);
        }
        break;
      default:
        break;
    }
    node.name = label();
    if (below(2) == 0) node.path = word();
    if (below(4) == 0) node.notes.push_back({word(), std::bit_cast<double>(random_())});
    if (below(4) == 0) node.notes.push_back({"n", static_cast<int64_t>(random_())});
    if (below(4) == 0) node.notes.push_back({"n", word()});
    return graph.append(std::move(node));
  }

  std::mt19937_64 random_;
};

TEST(Text, RandomGraphsPrintParseAndPrintTheSame) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = RandomGraph(seed).make(12, 2);
    ASSERT_TRUE(verify(graph).ok()) << seed;
    const std::string once = print_graph(graph);
    const Result<Graph> back = parse_graph(once, sample::ops());
    ASSERT_TRUE(back.ok()) << to_text(back.error()) << "\n" << once;
    ASSERT_EQ(print_graph(*back), once);
    ASSERT_TRUE(verify(*back).ok()) << to_text(verify(*back).error());
  }
}

}  // namespace
}  // namespace capra
