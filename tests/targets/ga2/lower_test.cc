// The golden graphs as ordinary graphs, through calls and through text; and what the chip refuses.
#include "capra/targets/ga2/lower/lower.h"

#include <gtest/gtest.h>

#include <cmath>

#include "capra/base/new_file.h"
#include "capra/base/new_folder.h"
#include "capra/base/number_text.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/softmax.h"
#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/program_json.h"
#include "capra/targets/ga2/target.h"
#include "capra/targets/ga2/write.h"
#include "tests/base/temp_folder.h"
#include "tests/targets/ga2/battery/checks.h"
#include "tests/targets/ga2/battery/random_network.h"
#include "tests/targets/ga2/golden_files.h"
#include "tests/targets/ga2/same_network.h"
#include "tests/targets/ga2/traced_network.h"

namespace capra::ga2 {
namespace {

Graph through_text(const Graph& graph) {
  const std::string text = print_graph(graph);
  Result<Graph> read = parse_graph(text, all_ops());
  if (!read.ok()) {
    ADD_FAILURE() << to_text(read.error());
    return Graph();
  }
  EXPECT_EQ(print_graph(*read), text);
  EXPECT_TRUE(verify(*read).ok());
  return *std::move(read);
}

// What the golden file expects of the program, not only what the network's own reading gives.
void expect_golden(const Json& file, const Program& program) {
  EXPECT_EQ(listing_json(program).text(), expected(file, "listing")->text());
  for (const auto& [node, scale] : expected(file, "scale")->members()) {
    const double wanted = *scale.as_f64();
    EXPECT_LE(std::fabs(program.plan.scales[std::stoul(node)] - wanted), 1e-12 * wanted) << node;
  }
  const Json& layout = *expected(file, "ext_layout");
  ASSERT_EQ(program.external.size(), layout.members().size());
  for (const ExternalRegion& region : program.external) {
    const Json* wanted = layout.find(region.name);
    ASSERT_NE(wanted, nullptr) << region.name;
    EXPECT_EQ(region.address, wanted->find("addr")->as_i64()) << region.name;
    EXPECT_EQ(region.node, wanted->find("node")->as_i64()) << region.name;
  }
}

class GoldenGraphLowered : public testing::TestWithParam<std::string> {};

TEST_P(GoldenGraphLowered, GivesTheGoldenProgram) {
  const Json file = golden_file(GetParam());
  const Result<CompileRequest> request = read_request(file, GetParam());
  ASSERT_TRUE(request.ok()) << to_text(request.error());
  const Traced written = traced(request->network);
  const Result<Lowered> lowered = lower(through_text(written.graph), written.parameters);
  ASSERT_TRUE(lowered.ok()) << to_text(lowered.error());
  expect_same(lowered->network, request->network);
  const Result<Program> program = compile(lowered->network, request->calibration, request->options);
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  expect_golden(file, *program);

  // The same with the weights in the text.
  const Graph whole = through_text(with_constants(written.graph, written.parameters));
  const Result<Lowered> alone = lower(whole);
  ASSERT_TRUE(alone.ok()) << to_text(alone.error());
  expect_same(alone->network, request->network);
}

TEST_P(GoldenGraphLowered, IsWrittenAsTheDocumentItCameFrom) {
  Result<CompileRequest> request = read_request(golden_file(GetParam()), GetParam());
  ASSERT_TRUE(request.ok()) << to_text(request.error());
  request->network.tag(request->network.size() - 1, "last");
  request->options.ranges["last"] = 2.5;
  const Result<Json> document = Json::parse(request_json(*request).text());
  ASSERT_TRUE(document.ok()) << to_text(document.error());
  const Result<CompileRequest> again = read_request(*document, "again");
  ASSERT_TRUE(again.ok()) << to_text(again.error());
  expect_same(again->network, request->network);
  EXPECT_EQ(again->calibration, request->calibration);
  EXPECT_EQ(again->test, request->test);
  EXPECT_EQ(again->options.ranges, request->options.ranges);
  EXPECT_EQ(again->options.reuse, request->options.reuse);
}

std::vector<std::string> run_names() {
  std::vector<std::string> names;
  for (const std::string& name : golden_names()) {
    if (!name.starts_with("refuse_") && name != "units") names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenGraphLowered, testing::ValuesIn(run_names()),
                         [](const auto& each) { return each.param; });

// In f32 the weights are other numbers than the seed's; all that does not depend on them must hold.
TEST(RandomGraphs, RunAsTheyMeanOnceTheyAreOrdinaryGraphs) {
  for (const CaseKind kind : {CaseKind::Graph, CaseKind::Int4, CaseKind::Slice}) {
    for (int64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(std::string(case_kind_name(kind)) + " " + number_text(seed));
      Case one = random_case(kind, seed);
      const Traced written = traced(one.network, DType::F32);
      const Graph text = through_text(with_constants(written.graph, written.parameters));
      Result<Lowered> lowered = lower(text);
      ASSERT_TRUE(lowered.ok()) << to_text(lowered.error());
      one.network = std::move(lowered->network);
      EXPECT_EQ(check_case(one, error_bound(kind)).problems, std::vector<std::string>());
    }
  }
}

TEST(GoldenGraphs, AreThere) { EXPECT_EQ(run_names().size(), 60U); }

Result<Lowered> lower_text(const std::string& nodes, const Parameters& parameters = {}) {
  const Result<Graph> graph = parse_graph("graph @main {\n" + nodes + "\n}", all_ops());
  if (!graph.ok()) return fail(graph.error());
  return lower(*graph, parameters);
}

struct Refusal {
  std::string nodes;
  std::string code;
  std::string message;
  std::string at;
};

TEST(Lowering, RefusesByNameAndSaysWhatIsNeeded) {
  const std::string x = "%x = input : f32[4, 6]\n";
  const std::string refusals = "op-not-legal";
  const Refusal cases[] = {
      {"%x = input : f32[6]\noutput %x {name = \"y\"}", refusals,
       "input is f32[6], two axes are needed", "%x"},
      {"%x = input : f32[2, 4, 6]\noutput %x {name = \"y\"}", refusals,
       "input is f32[2, 4, 6], two axes are needed", "%x"},
      {"%x = input : f32[tokens, 6]\noutput %x {name = \"y\"}", refusals,
       "input is f32[tokens, 6], extents that are numbers are needed", "%x"},
      {"%x = input : bf16[4, 6]\noutput %x {name = \"y\"}", refusals,
       "input is bf16[4, 6], f32 or f64 is needed", "%x"},
      {x + "%y = softmax %x {axis = 0}\noutput %y", refusals,
       "target ga2 does not take softmax(f32[4, 6]): the axis is 0, the last one is needed", "%y"},
      {x + "%y = argmax %x {axis = 0}\noutput %y", refusals,
       "target ga2 does not take argmax(f32[4, 6]): the axis is 0, the last one is needed", "%y"},
      {x + "%y = matmul %x %x {transpose_a = true} @ \"encoder.scores\"\noutput %y", refusals,
       "target ga2 does not take matmul(f32[4, 6], f32[4, 6]): transpose_a is true, the matrix "
       "unit reads the first operand by rows",
       "encoder.scores"},
      {x + "%y = concat %x %x {axis = 1}\noutput %y", refusals,
       "target ga2 does not take concat(f32[4, 6], f32[4, 6]): the axis is 1, the first one is "
       "needed",
       "%y"},
      {x + "%y = concat %x\noutput %y", refusals,
       "target ga2 does not take concat(f32[4, 6]): there is one part, two or more are needed",
       "%y"},
      {x + "%y = slice %x {starts = [0, 1], limits = [4, 3]}\noutput %y", refusals,
       "target ga2 does not take slice(f32[4, 6]): columns 1 to 2 of 6 are taken, all are needed",
       "%y"},
      {x + "%y = slice %x {starts = [0, 0], limits = [4, 6], strides = [2, 1]}\noutput %y",
       refusals,
       "target ga2 does not take slice(f32[4, 6]): there are steps, rows that follow one another "
       "are needed",
       "%y"},
      {x + "%b = input : f32[1, 6]\n%y = add %x %b\noutput %y", refusals,
       "target ga2 does not take add(f32[4, 6], f32[1, 6]): the shapes are [4, 6] and [1, 6], "
       "equal ones are needed",
       "%y"},
      {x + "%i = argmax %x {keep_dims = true}\n%y = add %i %i\noutput %y", refusals,
       "target ga2 does not take add(i64[4, 1], i64[4, 1]): a is i64[4, 1], f32 or f64 is needed",
       "%y"},
      {x + "%y = exp %x\noutput %y", refusals, "target ga2 does not run exp(f32[4, 6])", "%y"},
      {x + "%y = gelu %x\noutput %y", refusals,
       "target ga2 runs neither gelu(f32[4, 6]) nor all of its steps", "%y"},
      {x + "%y = relu %x !{bits = 4}\noutput %y", "network-invalid", "the note bits stands on relu",
       "%y"},
      {"%w = constant {value = f32[1, 2] [[1, 2]]} !{bits = 5}\noutput %w {name = \"y\"}",
       "network-invalid", "weight w: bits must be 4 or 8", "%w"},
      {"%w = constant {value = f32[1, 2] [[1, nan]]}\noutput %w {name = \"y\"}", "network-invalid",
       "weight w: a value is not finite", "%w"},
      {x + "%y = relu %x !{tag = 3}\noutput %y", "network-invalid", "the note tag is no name",
       "%y"},
      {x + "output %x {name = \"x\"}", "network-invalid",
       "two of the inputs, weights and outputs are called x", "%1"},
      {x + "%y = slice %x {starts = [2, 0], limits = [2, 6]}\noutput %y", "network-invalid",
       "slice_rows: rows 2..1 do not lie inside a tensor of 4 rows", "%y"},
      {"%w = parameter {path = \"layer.weight\"} : f32[2, 2]\noutput %w {name = \"y\"}",
       "parameter-missing", "there is no data for a parameter of the graph", "layer.weight"},
  };
  for (const Refusal& one : cases) {
    const Result<Lowered> lowered = lower_text(one.nodes);
    ASSERT_FALSE(lowered.ok()) << one.nodes;
    EXPECT_EQ(lowered.error().code, one.code) << one.nodes;
    EXPECT_EQ(lowered.error().message, one.message) << one.nodes;
    EXPECT_EQ(lowered.error().at, one.at) << one.nodes;
    EXPECT_FALSE(lowered.error().help.empty()) << one.nodes;
  }
  Parameters other;
  other.emplace("w", Array::zeros(DType::F32, {2, 3}));
  const Result<Lowered> lowered =
      lower_text("%w = parameter {path = \"w\"} : f32[2, 2]\noutput %w {name = \"y\"}", other);
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().code, "parameter-type");
  EXPECT_EQ(lowered.error().message, "the data are f32[2, 3], the graph needs f32[2, 2]");
}

TEST(Lowering, DecomposesJoinsAndNames) {
  // linear is a product by the transposed weight; three parts are joined two by two; a constant
  // without a name gets one, and one whose name is taken steps aside.
  const Result<Lowered> lowered = lower_text(R"(
    %x = input : f32[2, 3]
    %y = constant {value = f32[4, 3] splat 0.5} !{bits = 4}
    %2 = constant {value = f32[2, 4] splat 1}
    %3 = linear %x %y
    %4 = concat %3 %2 %3 !{tag = "joined"}
    output %4 {name = "y"}
    %6 = relu %x
    %7 = argmax %4
    output %7 {name = "class"})");
  ASSERT_TRUE(lowered.ok()) << to_text(lowered.error());
  const Network& network = lowered->network;
  std::vector<NodeOp> ops;
  for (const NetworkNode& node : network.nodes()) ops.push_back(node.op);
  const std::vector<NodeOp> wanted = {
      NodeOp::Input,  NodeOp::Weight, NodeOp::Weight, NodeOp::Matmul, NodeOp::Concat,
      NodeOp::Concat, NodeOp::Output, NodeOp::Relu,   NodeOp::Argmax, NodeOp::Output};
  EXPECT_EQ(ops, wanted);
  EXPECT_EQ(lowered->origins, (std::vector<NodeId>{0, 1, 2, 3, 4, 4, 5, 6, 7, 8}));
  EXPECT_EQ(network.node(1).name, "y_");
  EXPECT_EQ(network.node(1).bits, 4);
  EXPECT_EQ(network.node(2).name, "constant2");
  EXPECT_TRUE(network.node(3).transpose_b);
  EXPECT_EQ(network.node(4).operands, (std::vector<NodeIndex>{3, 2}));
  EXPECT_EQ(network.node(5).operands, (std::vector<NodeIndex>{4, 3}));
  EXPECT_EQ(network.node(4).tag, "");
  EXPECT_EQ(network.node(5).tag, "joined");
  EXPECT_EQ(network.node(8).shape, (Extents{2 * 2 + 2, 1}));
}

TEST(Lowering, OpensGroups) {
  const Result<Lowered> lowered = lower_text(R"(
    %x = input : f32[2, 3]
    %1 = group %x {label = "ends"} body {
      %a = input : f32[2, 3]
      %1 = softmax %a
      output %1 {name = "b"}
    }
    output %1 {name = "y"})");
  ASSERT_TRUE(lowered.ok()) << to_text(lowered.error());
  EXPECT_EQ(lowered->network.size(), 3);
  EXPECT_EQ(lowered->network.node(1).op, NodeOp::Softmax);
}

std::string refusal_of(const Target& target, const std::string& op) {
  const Result<Graph> graph = parse_graph(
      "graph @main {\n%x = input : f32[2, 3]\n%y = " + op + " %x\noutput %y\n}", all_ops());
  const Result<std::unique_ptr<Executable>> compiled = capra::compile(target, *graph, {}, {});
  return compiled.ok() ? "" : compiled.error().code + ": " + compiled.error().message;
}

// Loads twice what it loads first.
std::span<const ProgramPass* const> load_passes() {
  static constexpr ProgramPass kPass{.name = "load-twice",
                                     .summary = "Loads twice.",
                                     .dialect = kDialect,
                                     .run = [](void* program, PassContext&) -> Status {
                                       auto& instructions =
                                           *static_cast<std::vector<Instruction>*>(program);
                                       const Instruction first = instructions.front();
                                       if (instructions[1] != first)
                                         instructions.insert(instructions.begin(), first);
                                       return {};
                                     }};
  static constexpr const ProgramPass* kList[] = {&kPass};
  return kList;
}

TEST(Export, SaysWhetherTheGraphGivesTheSameProgramAgain) {
  const Result<Graph> graph =
      parse_graph("graph @main {\n%x = input : f32[1, 2]\noutput %x {name = \"y\"}\n}", all_ops());
  const TempFolder scratch;
  const std::string samples = scratch.path() + "/samples.json";
  ASSERT_TRUE(write_file(samples, R"([{"x": [[1, 2]]}])").ok());
  Target mine{.name = "my-chip", .summary = "", .base = &kTarget};
  const auto note = [&] {
    Result<NewFolder> folder = NewFolder::create(scratch.path() + "/out");
    Result<WrittenProgram> written = ga2::write(
        mine, *graph, {}, {.constants = ConstantPlacement(), .calibration = samples}, *folder);
    return written.ok() ? written->run_note : to_text(written.error());
  };
  EXPECT_NE(note().find("compiles the graph to the same program again and runs"),
            std::string::npos);
  mine.optimizer.program_passes = load_passes;
  EXPECT_NE(note().find("again, without the program passes that changed this one, and runs"),
            std::string::npos)
      << note();
}

TEST(Lowering, OfADerivedTargetSaysItsName) {
  Target mine{.name = "my-chip", .summary = "", .base = &kTarget};
  EXPECT_EQ(refusal_of(mine, "exp"), "op-not-legal: target my-chip does not run exp(f32[2, 3])");
  EXPECT_EQ(
      refusal_of(mine, "relu"),
      "calibration-missing: target my-chip chooses the scales of its integers by samples, and "
      "none were given");
  static const OpDef* const kKept[] = {&kSoftmax};
  mine.optimizer.granularity = [] { return Granularity{kKept}; };
  EXPECT_EQ(refusal_of(mine, "relu"),
            "target-keeps-ops: target my-chip keeps ops whole, and the chip's units are fixed");
}

}  // namespace
}  // namespace capra::ga2
