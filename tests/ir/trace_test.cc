// Tensors, tapes, graphs and replay: what is recorded, in which order, and what binds to what.
#include <gtest/gtest.h>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "tests/ir/sample_ops.h"

namespace capra {
namespace {

// Records the calls it gets, and gives tensors of zeros.
class ZeroSink : public Sink {
 public:
  Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor>, Attrs attrs,
               TensorType result) override {
    calls.push_back(std::string(op.name) + " " + result.text());
    if (!attrs.empty()) calls.back() += " " + print_attr(attrs[0]);
    return Tensor::of_data(self, Array::zeros(result.dtype, result.shape.sizes()));
  }
  Tensor parameter(const Context& self, std::string_view path, TensorType type) override {
    calls.push_back("parameter " + std::string(path));
    return Tensor::of_data(self, Array::zeros(type.dtype, type.shape.sizes()));
  }
  std::vector<std::string> calls;
};

std::string code_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.diagnostic().code;
  }
  return "no error";
}

TEST(Trace, RecordsInProgramOrder) {
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {Dim("tokens")}});
  const Tensor a = sample::neg(x);
  const Tensor b = sample::mul(x, x);
  const Tensor c = sample::mul(b, a);
  sink.output(c, "c");
  sink.output(a, "a");
  EXPECT_EQ(print_tape(sink.tape()),
            "tape @g {\n"
            "  %x = input {name = \"x\"} : f32[tokens]\n"
            "  %1 = neg %x : f32[tokens]\n"
            "  %2 = mul %x %x : f32[tokens]\n"
            "  %3 = mul %2 %1 : f32[tokens]\n"
            "  output %3 {name = \"c\"}\n"
            "  output %1 {name = \"a\"}\n"
            "}\n");
}

TEST(Trace, ScopesGiveDottedPaths) {
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {2}});
  {
    const Scope outer(context, "encoder");
    const Scope inner(context, "layer.0");
    sample::neg(x);
  }
  sample::neg(x);
  EXPECT_EQ(sink.tape().entries[1].path, "encoder.layer.0");
  EXPECT_EQ(sink.tape().entries[2].path, "");
}

TEST(Trace, AParameterIsRecordedOnce) {
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const TensorType type{DType::F32, {2}};
  const Tensor first = sink.parameter(context, "w", type);
  EXPECT_EQ(sink.parameter(context, "w", type).value(), first.value());
  EXPECT_EQ(sink.tape().entries.size(), 1u);
  EXPECT_EQ(code_of([&] { sink.parameter(context, "w", {DType::F32, {3}}); }), "parameter-type");
}

TEST(Trace, ATracedTensorHasNoNumbers) {
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {2}});
  EXPECT_EQ(code_of([&] { static_cast<void>(x.array()); }), "tensor-has-no-data");
}

TEST(Trace, TensorsOfTwoContextsDoNotMix) {
  Context one = TraceSink::begin("a");
  Context two = TraceSink::begin("b");
  const TensorType type{DType::F32, {2}};
  const Tensor x = static_cast<TraceSink&>(one.sink()).input(one, "x", type);
  const Tensor y = static_cast<TraceSink&>(two.sink()).input(two, "y", type);
  EXPECT_EQ(code_of([&] { sample::mul(x, y); }), "context-mixed");
  EXPECT_EQ(code_of([&] { static_cast<TraceSink&>(two.sink()).output(x, "x"); }), "context-mixed");
  EXPECT_EQ(code_of([&] { static_cast<TraceSink&>(two.sink()).output(Tensor(), "x"); }),
            "context-mixed");
}

TEST(Trace, NoOperandsAreRefusedByTheRecord) {
  EXPECT_EQ(
      code_of([] { apply(sample::kJoin, std::span<const Tensor>(), pack(sample::JoinAttrs())); }),
      "operand-count");
}

TEST(Trace, AWrongCallIsRefusedByTheRecord) {
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::I32, {2}});
  try {
    sample::neg(x);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "neg: x is not a float");
    EXPECT_EQ(error.diagnostic().at, "neg(i32[2])");
  }
}

TEST(Trace, AbsentOperandsAtTheEndAreNotRecorded) {
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {2}});
  apply(sample::kLerp, {x, x, Tensor(), Tensor()}, {});
  apply(sample::kLerp, {x, x, Tensor(), x}, {});
  EXPECT_EQ(sink.tape().entries[1].operands, (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(sink.tape().entries[2].operands, (std::vector<int32_t>{0, 0, -1, 0}));
}

TEST(Graph, TapesAndGraphsHoldTheSame) {
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {2}});
  sink.output(sample::neg(x), "y");
  const Tape tape = sink.tape();
  const Graph graph = build_graph(tape);
  EXPECT_TRUE(verify(graph).ok());
  EXPECT_EQ(print_tape(build_tape(graph)), print_tape(tape));
}

TEST(Graph, FindsAndCountsUsers) {
  const Graph graph = *parse_graph(
      "graph @g { %x = input : f32[2]\n %w = parameter {path = \"w\"} : f32[2]\n"
      "%y = mul %x %x\n %z = lerp %y %w _ %x\n output %z }",
      sample::ops());
  EXPECT_EQ(graph.find_input("x"), 0);
  EXPECT_EQ(graph.find_input("y"), -1);
  EXPECT_EQ(graph.find_output("z"), 4);
  EXPECT_EQ(graph.parameters(), std::vector<NodeId>{1});
  const auto users = graph.users();
  EXPECT_EQ(users[0], (std::vector<NodeId>{2, 2, 3}));
  EXPECT_EQ(users[3], std::vector<NodeId>{4});
  EXPECT_TRUE(users[4].empty());
}

TEST(Graph, EqualityLooksAtEverything) {
  const auto text = [](const char* node) {
    return *parse_graph(std::string("graph @g { %x = input : f32[2]\n") + node + "}",
                        sample::ops());
  };
  const Graph graph = text("%y = join %x {axis = 1} @ \"p\" !{n = 1}");
  EXPECT_TRUE(graph == text("%y = join %x {axis = 1} @ \"p\" !{n = 1}"));
  for (const char* other :
       {"%z = join %x {axis = 1} @ \"p\" !{n = 1}", "%y = join %x {axis = 2} @ \"p\" !{n = 1}",
        "%y = join %x {axis = 1} @ \"q\" !{n = 1}", "%y = join %x {axis = 1} @ \"p\" !{n = 2}",
        "%y = join %x %x {axis = 1} @ \"p\" !{n = 1}", "%y = neg %x @ \"p\" !{n = 1}"}) {
    EXPECT_FALSE(graph == text(other)) << other;
  }
}

TEST(Replay, OnATraceSinkCopiesTheGraph) {
  const std::string text =
      "graph @g {\n"
      "  %x = input {name = \"x\"} : f32[tokens, 2]\n"
      "  %1 = neg %x : f32[tokens, 2]\n"
      "  %2 = view %1 {shape = [tokens, 1, 2]} : f32[tokens, 1, 2]\n"
      "  output %2 {name = \"y\"}\n"
      "}\n";
  const Graph graph = *parse_graph(text, sample::ops());
  Context context = TraceSink::begin("g");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {Dim("tokens"), 2}});
  const std::vector<Tensor> inputs = {x};
  sink.output(replay(graph, context, inputs).front(), "y");
  EXPECT_EQ(print_graph(build_graph(sink.take_tape())), text);
}

TEST(Replay, SymbolsTakeTheDimsOfTheInputs) {
  const Graph graph = *parse_graph(
      "graph @g { %x = input : f32[tokens, 2]\n %p = parameter {path = \"w\"} : f32[2]\n"
      "%m = mul %x %p\n %v = view %m {shape = [tokens, 1, 2]}\n"
      "%g = group %v body { %a = input : f32[tokens, 1, 2]\n"
      "%b = view %a {shape = [2, tokens]}\n output %b }\n output %g\n output %x }",
      sample::ops());
  auto owned = std::make_shared<ZeroSink>();
  const Context context(owned);
  const std::vector<Tensor> inputs = {Tensor::of_data(context, Array::zeros(DType::F32, {5, 2}))};
  const std::vector<Tensor> outputs = replay(graph, context, inputs);
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].shape().text(), "[2, 5]");
  EXPECT_EQ(outputs[1].shape().text(), "[5, 2]");
  EXPECT_EQ(owned->calls,
            (std::vector<std::string>{"parameter w", "mul f32[5, 2]", "view f32[5, 1, 2] [5, 1, 2]",
                                      "view f32[2, 5] [2, 5]"}));
}

TEST(Replay, RefusesInputsThatDoNotFit) {
  const Graph graph = *parse_graph(
      "graph @g { %x = input : f32[tokens, 2]\n %y = input : f32[tokens] }", sample::ops());
  const Context context(std::make_shared<ZeroSink>());
  const auto run = [&](std::vector<int64_t> x, std::vector<int64_t> y) {
    const std::vector<Tensor> inputs = {
        Tensor::of_data(context, Array::zeros(DType::F32, std::move(x))),
        Tensor::of_data(context, Array::zeros(DType::F32, std::move(y)))};
    return code_of([&] { replay(graph, context, inputs); });
  };
  EXPECT_EQ(run({3, 2}, {3}), "no error");
  EXPECT_EQ(run({3, 2}, {4}), "symbol-conflict");
  EXPECT_EQ(run({3, 3}, {3}), "input-type");
  EXPECT_EQ(run({3, 2, 1}, {3}), "input-type");
  EXPECT_EQ(code_of([&] { replay(graph, context, {}); }), "input-count");
}

}  // namespace
}  // namespace capra
