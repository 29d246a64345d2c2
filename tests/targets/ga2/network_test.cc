// Graphs of the chip beside the golden ones: what is refused, what is released, what is set.
#include "capra/targets/ga2/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {
namespace {

Result<CompileRequest> read(std::string_view text) { return read_request(*Json::parse(text), "d"); }

std::string refusal(std::string_view text) {
  Result<CompileRequest> request = read(text);
  if (!request.ok()) return request.error().code;
  const Result<Program> program = compile(request->network, request->calibration, request->options);
  return program.ok() ? "" : program.error().code;
}

// y = w x w, with samples.
std::string product(std::string_view rest) {
  return R"({"build": [{"call": "input", "name": "x", "shape": [2, 2]},
                       {"call": "weight", "name": "w", "array": [[1, 2], [3, 4]]},
                       {"call": "matmul", "a": 0, "b": 1, "tag": "y"},
                       {"call": "output", "a": 2, "name": "o"}], )" +
         std::string(rest) + "}";
}

TEST(Request, IsRefusedByName) {
  EXPECT_EQ(refusal(product(R"("calib": [{"x": [[1, 2], [3, 4]]}])")), "");
  EXPECT_EQ(refusal(product(R"("calib": [])")), "sample-invalid");
  EXPECT_EQ(refusal(product(R"("other": 1)")), "sample-invalid");
  EXPECT_EQ(refusal(product(R"("calib": [{"y": [[1, 2], [3, 4]]}])")), "sample-invalid");
  EXPECT_EQ(refusal(product(R"("calib": [{"x": [[1, 2]]}])")), "sample-invalid");
  EXPECT_EQ(refusal(product(R"("calib": [{"x": [[1, 2], [3]]}])")), "network-document");
  EXPECT_EQ(refusal(product(R"("calib": [{"x": [[1, "nan"], [3, 4]]}])")), "network-document");
  EXPECT_EQ(refusal(product(R"("calib": [{"x": [[1e300, 2], [3, 4]]}])")), "");
  EXPECT_EQ(refusal(product(R"("calib": [{"x": [[1.7e308, 1.7e308], [3, 4]]}])")), "range-invalid");
  EXPECT_EQ(
      refusal(product(R"("calib": [{"x": [[1, 2], [3, 4]]}], "compile": {"ranges": {"z": 1}})")),
      "range-invalid");
  EXPECT_EQ(
      refusal(product(R"("calib": [{"x": [[1, 2], [3, 4]]}], "compile": {"ranges": {"y": -1}})")),
      "range-invalid");
  EXPECT_EQ(
      refusal(product(R"("calib": [{"x": [[1, 2], [3, 4]]}], "compile": {"ranges": {"y": 0}})")),
      "range-invalid");
  EXPECT_EQ(
      refusal(product(R"("calib": [{"x": [[1, 2], [3, 4]]}], "compile": {"ranges": {"y": 1e30}})")),
      "multiplier-out-of-range");
  for (const char* text :
       {"[]", "{}", R"({"graph": 1})", R"({"build": [1]})", R"({"build": [{"call": "conv"}]})",
        R"({"build": [{"call": "input", "name": "x", "shape": [2]}]})",
        R"({"build": [{"call": "weight", "name": "w", "array": []}]})",
        R"({"build": [{"call": "input", "name": "x", "shape": [1, 1], "tag": 5}]})",
        R"({"build": [], "compile": 7})", R"({"build": [], "compile": {"ranges": [["x", 4]]}})",
        R"({"build": [], "compile": {"reuse": 1}})",
        R"({"graph": {"nodes": [{"op": "input", "id": 1, "name": "x", "shape": [1, 1]}]}})",
        R"({"graph": {"nodes": [{"op": "input", "name": "x", "shape": [1, 1]},
                                                   {"op": "relu", "ins": [0], "shape": [1, 2]}]}})"}) {
    EXPECT_EQ(refusal(text), "network-document") << text;
  }
}

// A key that nothing reads says something that would not be done.
TEST(Request, RefusesKeysThatNothingReads) {
  const auto message = [](const std::string& text) {
    const Result<CompileRequest> request = read(text);
    return request.ok() ? "" : to_text(request.error());
  };
  const auto build = [](const std::string& call) {
    return R"({"build": [{"call": "input", "name": "x", "shape": [1, 1]}, )" + call + "]}";
  };
  const std::string product = R"({"call": "matmul", "a": 0, "b": 0)";
  EXPECT_EQ(message(build(product + "}")), "");
  EXPECT_EQ(message(build(product + R"(, "transposeB": true})")),
            "error[network-document]: there is a member transposeB, which nothing reads\n"
            "  at: d, node 1\n"
            "  help: those that are read: call, a, b, transpose_b, scale, tag");
  EXPECT_EQ(message(build(R"({"call": "relu", "a": 0, "b": 0})")),
            "error[network-document]: there is a member b, which nothing reads\n"
            "  at: d, node 1\n"
            "  help: those that are read: call, a, tag");
  for (const std::string key : {"factor", "ins", "id", "op", "shape", "name"}) {
    EXPECT_NE(message(build(product + R"(, ")" + key + R"(": 3})")).find("member " + key),
              std::string::npos)
        << key;
  }
  const auto graph = [](const std::string& node) {
    return R"({"graph": {"nodes": [{"op": "input", "name": "x", "shape": [1, 1]}, )" + node + "]}}";
  };
  EXPECT_EQ(message(graph(R"({"op": "input", "name": "y", "shape": [1, 1], "ins": []})")), "");
  for (const std::string node :
       {R"({"op": "input", "name": "y", "shape": [1, 1], "ins": [0]})",
        R"({"op": "input", "name": "y", "shape": [1, 1], "ins": 0})",
        R"({"op": "weight", "name": "w", "array": [[1]], "ins": [0]})",
        R"({"op": "weight", "name": "w", "array": [[1]], "Bits": 4})",
        R"({"op": "relu", "ins": [0], "a": 0})", R"({"op": "output", "ins": [0], "Name": "o"})"}) {
    EXPECT_EQ(refusal(graph(node)), "network-document") << node;
  }
  EXPECT_EQ(message(R"({"build": [], "compile": {"ranges": {}, "Ranges": {"y": 1}}})"),
            "error[network-document]: there is a member Ranges, which nothing reads\n"
            "  at: d, compile\n"
            "  help: those that are read: ranges, reuse");
  EXPECT_EQ(message(R"({"build": [], "title": 1, "expected": {}, "recipe": "r"})"), "");
}

TEST(Request, WeightsHave8BitsWhereNothingIsSaid) {
  const Result<CompileRequest> request = read(product(R"("calib": [])"));
  ASSERT_TRUE(request.ok()) << to_text(request.error());
  EXPECT_EQ(request->network.node(1).bits, 8);
}

TEST(Sample, IsFinite) {
  Network network;
  ASSERT_TRUE(network.input("x", {1, 2}).ok());
  for (const double value :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    Sample sample = {{"x", Matrix<double>(1, 2)}};
    EXPECT_TRUE(check_sample(network, sample, "s").ok());
    sample["x"].at(0, 1) = value;
    const Status status = check_sample(network, sample, "s");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, "sample-invalid");
  }
}

TEST(Network, RefusesWhatHasNoMeaning) {
  Network network;
  ASSERT_TRUE(network.input("x", {2, 3}).ok());
  EXPECT_FALSE(network.input("x", {2, 3}).ok());
  EXPECT_FALSE(network.input("", {2, 3}).ok());
  EXPECT_FALSE(network.input("z", {0, 3}).ok());
  EXPECT_FALSE(network.input("z", {1 << 20, 2}).ok());
  EXPECT_FALSE(network.relu(1).ok());
  EXPECT_FALSE(network.relu(-1).ok());
  EXPECT_FALSE(network.slice_rows(0, 1, std::numeric_limits<int64_t>::max()).ok());
  EXPECT_FALSE(network.slice_rows(0, -1, 1).ok());
  EXPECT_FALSE(network.matmul(0, 0).ok());
  EXPECT_FALSE(network.matmul(0, 0, true, std::numeric_limits<double>::quiet_NaN()).ok());
  for (const double value :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Matrix<double> weights(1, 2);
    weights.at(0, 1) = value;
    EXPECT_FALSE(network.weight("w", weights).ok());
  }
  ASSERT_TRUE(network.argmax(0).ok());
  EXPECT_FALSE(network.relu(1).ok());
  ASSERT_TRUE(network.output(1, "o").ok());
  EXPECT_FALSE(network.output(2, "p").ok());
  EXPECT_EQ(network.size(), 3);
}

TEST(Compile, TheFastScheduleReusesBuffers) {
  const Result<CompileRequest> request = read(product(R"("calib": [{"x": [[1, 2], [3, 4]]}])"));
  ASSERT_TRUE(request.ok());
  const Result<Program> program =
      compile(request->network, request->calibration, {.schedule = Schedule::Fast, .reuse = false});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, "option-invalid");
}

// The samples are not run through what no memory holds: they would give values that are not finite.
TEST(Compile, RefusesWhatNoMemoryHoldsBeforeItCalibrates) {
  Network network;
  const NodeIndex x = *network.input("x", {128, 1});
  const NodeIndex y = *network.input("y", {1, 128});
  const NodeIndex product = *network.matmul(x, y);
  const NodeIndex sum = *network.add(product, product);
  const NodeIndex row = *network.slice_rows(sum, 0, 1);
  ASSERT_TRUE(network.output(*network.matmul(row, sum), "o").ok());
  Sample sample = {{"x", Matrix<double>(128, 1)}, {"y", Matrix<double>(1, 128)}};
  std::ranges::fill(sample["x"].values, 1e200);
  std::ranges::fill(sample["y"].values, 1e200);
  const std::vector<Sample> samples = {sample};
  for (const Schedule schedule : {Schedule::Author, Schedule::Fast}) {
    const Result<Program> program = compile(network, samples, {.schedule = schedule});
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.error().message,
              "scratchpad is full: cannot place a buffer of 16384 words (free: 3840 words in 1 "
              "pieces)");
  }
  Network outside;
  const NodeIndex large = *outside.input("x", {128, 128});
  ASSERT_TRUE(outside.output(*outside.add(large, large), "o").ok());
  sample = {{"x", Matrix<double>(128, 128)}};
  std::ranges::fill(sample["x"].values, 1.7e308);
  for (const Schedule schedule : {Schedule::Author, Schedule::Fast}) {
    const Result<Program> program =
        compile(outside, std::vector<Sample>{sample}, {.schedule = schedule});
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.error().message, "external memory is full (32768 words)");
  }
}

TEST(Compile, TheFastScheduleTakesARowOfWhatNoMemoryHolds) {
  Network network;
  const NodeIndex x = *network.input("x", {128, 1});
  const NodeIndex y = *network.input("y", {1, 128});
  const NodeIndex row = *network.slice_rows(*network.matmul(x, y), 5, 1);
  ASSERT_TRUE(network.output(row, "o").ok());
  Sample sample = {{"x", Matrix<double>(128, 1)}, {"y", Matrix<double>(1, 128)}};
  std::ranges::fill(sample["x"].values, 1);
  std::ranges::fill(sample["y"].values, 1);
  const std::vector<Sample> samples = {sample};
  EXPECT_FALSE(compile(network, samples).ok());
  const Result<Program> fast = compile(network, samples, {.schedule = Schedule::Fast});
  ASSERT_TRUE(fast.ok()) << to_text(fast.error());
}

// A look along the whole chain for each of its nodes would take minutes.
TEST(Compile, TakesLongChainsOfSlices) {
  Network network;
  NodeIndex last = *network.input("x", {1, 1});
  for (int i = 0; i < 200000; ++i) last = *network.slice_rows(last, 0, 1);
  ASSERT_TRUE(network.output(last, "o").ok());
  const std::vector<Sample> samples = {{{"x", Matrix<double>(1, 1)}}};
  const Result<Program> program = compile(network, samples);
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  EXPECT_EQ(program->instructions.size(), 3u);  // load, store, halt
}

// As published: buffers are released after instructions, and a view is none.
TEST(Compile, KeepsABufferWhoseLastUseIsAView) {
  Network network;
  const NodeIndex x = *network.input("x", {1, 2});
  const NodeIndex w = *network.weight("w", Matrix<double>(2, 2));
  const NodeIndex y = *network.matmul(x, w);
  const NodeIndex unused = *network.relu(y);
  ASSERT_TRUE(network.output(x, "o").ok());
  const std::vector<Sample> samples = {{{"x", Matrix<double>(1, 2)}}};
  const Result<Program> program = compile(network, samples);
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  EXPECT_FALSE(program->addresses[static_cast<size_t>(x)].has_value());
  EXPECT_FALSE(program->addresses[static_cast<size_t>(w)].has_value());
  EXPECT_TRUE(program->addresses[static_cast<size_t>(unused)].has_value());
}

TEST(Compile, SumsUpTo64Terms) {
  for (const int64_t terms : {64, 65}) {
    Network network;
    const NodeIndex x = *network.input("x", {1, terms});
    const NodeIndex w = *network.weight("w", Matrix<double>(terms, 1));
    const NodeIndex y = *network.matmul(x, w);
    ASSERT_TRUE(network.output(y, "y").ok());
    const std::vector<Sample> samples = {{{"x", Matrix<double>(1, terms)}}};
    EXPECT_EQ(compile(network, samples).ok(), terms == 64);
  }
}

TEST(Compile, TakesExternalMemoryToItsLastWord) {
  Network network;
  const NodeIndex x = *network.input("x", {2, 3});
  ASSERT_TRUE(network.output(x, "o").ok());
  const std::vector<Sample> samples = {{{"x", Matrix<double>(2, 3)}}};
  EXPECT_TRUE(compile(network, samples, {.external_words = 12}).ok());
  EXPECT_EQ(compile(network, samples, {.external_words = 11}).error().message,
            "external memory is full (12 words)");
}

// A weight of 4 bits has a scale of its own, which its views have too.
TEST(Network, ViewsOfAWeightOfFourBitsMeanWhatItMeans) {
  constexpr std::string_view kWeight =
      R"({"call": "input", "name": "x", "shape": [1, 4]},
         {"call": "weight", "name": "w", "bits": 4, "array": [[1, 0.5, -1, 0.25], [0.5, 1, 1, -1], [1, 1, 0, 0]]},)";
  constexpr std::string_view kSamples =
      R"(], "calib": [{"x": [[1, 2, -1, 0.5]]}], "test": {"x": [[1, 2, -1, 0.5]]}})";
  const auto document = [&](std::string_view rest) {
    return R"({"build": [)" + std::string(kWeight) + std::string(rest) + std::string(kSamples);
  };
  const Result<CompileRequest> request =
      read(document(R"({"call": "slice_rows", "a": 1, "start": 0, "count": 2},
                       {"call": "slice_rows", "a": 2, "start": 0, "count": 2},
                       {"call": "matmul", "a": 0, "b": 3, "transpose_b": true},
                       {"call": "output", "a": 4, "name": "y"},
                       {"call": "output", "a": 1, "name": "same"})"));
  ASSERT_TRUE(request.ok()) << to_text(request.error());
  const Result<Program> program = compile(request->network, request->calibration, request->options);
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  for (const NodeIndex view : {1, 2, 3, 6}) EXPECT_EQ(program->scale(view), 1.0 / 7) << view;
  const auto ran = run(*program, *request->test);
  ASSERT_TRUE(ran.ok()) << to_text(ran.error());
  // Half a step of 1/7 in each of four products, and of the result.
  const std::vector<double>& y = ran->outputs.at("y").values.values;
  EXPECT_NEAR(y[0], 1 + 1 + 1 + 0.125, 4.5 / 14 + 0.02);
  EXPECT_NEAR(y[1], 0.5 + 2 - 1 - 0.5, 4.5 / 14 + 0.02);
  EXPECT_NEAR(ran->outputs.at("same").values.values[3], 0.25, 1.0 / 14);

  EXPECT_EQ(refusal(document(R"({"call": "concat_rows", "a": 1, "b": 0},
                                {"call": "output", "a": 2, "name": "y"})")),
            "placement-impossible");
  EXPECT_EQ(refusal(document(R"({"call": "slice_rows", "a": 1, "start": 1, "count": 1},
                                {"call": "softmax", "a": 2},
                                {"call": "output", "a": 3, "name": "y"})")),
            "placement-impossible");
}

// A range set from outside changes the scale of its tensor and of its group.
TEST(Network, RangesAreSetByTag) {
  Result<CompileRequest> request =
      read(product(R"("calib": [{"x": [[1, 2], [3, 4]]}], "compile": {"ranges": {"y": 12.7}})"));
  ASSERT_TRUE(request.ok()) << to_text(request.error());
  const Result<Program> program = compile(request->network, request->calibration, request->options);
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  // The output was seen to reach 22; the larger range of the group stands.
  EXPECT_DOUBLE_EQ(program->scale(2), 22.0 / 127);
  EXPECT_DOUBLE_EQ(program->plan.ranges[2], 12.7);
}

}  // namespace
}  // namespace capra::ga2
