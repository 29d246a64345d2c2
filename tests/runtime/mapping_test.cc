// Weights in a file mapping: once packed, the mapping's own pages are given back; tables stay where
// they are. And outputs that are not computed in place.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "capra/base/new_file.h"
#include "capra/ops/abs.h"
#include "capra/ops/gather.h"
#include "capra/ops/linear.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "tests/targets/cpu/encoder_case.h"

namespace capra {
namespace {

using testing::Random;
using testing::value_of;

// KiB of the mapping at `address` that are in memory, from the kernel's own account.
int64_t resident_kib(const std::byte* address) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  while (std::getline(maps, line)) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      const auto at = reinterpret_cast<unsigned long>(address);
      inside = begin <= at && at < end;
    } else if (inside && line.starts_with("Rss:")) {
      return std::stol(line.substr(4));
    }
  }
  return -1;
}

class MappedFile {
 public:
  MappedFile(std::string path, int64_t floats) : path_(std::move(path)) {
    Random numbers(3);
    std::vector<float> values(static_cast<size_t>(floats));
    for (float& value : values) value = numbers.signed_unit();
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(float));
    write_file(path_, bytes).or_throw();
    buffer = map_file(path_).value_or_throw();
  }
  ~MappedFile() { ::unlink(path_.c_str()); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::shared_ptr<Buffer> buffer;

 private:
  std::string path_;
};

TEST(MappedWeights, PagesGoBackOnceAWeightIsPacked) {
  constexpr int64_t kOut = 2048;
  constexpr int64_t kIn = 1024;
  const MappedFile file(::testing::TempDir() + "capra_mapped_" + std::to_string(::getpid()),
                        kOut * kIn);
  const Array weight = Array::view(DType::F32, {kOut, kIn}, file.buffer);
  const Parameters parameters{{"w", weight}};
  Context context = TraceSink::begin("mapped");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {"n", kIn}});
  sink.output(linear(x, sink.parameter(context, "w", {DType::F32, {kOut, kIn}})), "y");
  const Graph graph = build_graph(sink.take_tape());

  Array input = Array::zeros(DType::F32, {3, kIn});
  Random numbers(4);
  for (float& value : input.mutable_as<float>()) value = numbers.signed_unit();
  const auto eager = testing::run_eager(cpu::kTarget, graph, parameters, {input});
  // The eager call read all 8 MiB where they lie.
  EXPECT_GE(resident_kib(weight.data()), 8000);

  const auto executable = value_of(compile(cpu::kTarget, graph, parameters));
  ASSERT_NE(executable, nullptr);
  EXPECT_LE(resident_kib(weight.data()), 64);
  Workspace workspace = executable->make_workspace();
  EXPECT_EQ(value_of(executable->run(workspace, testing::refs({input}))), eager);
  EXPECT_LE(resident_kib(weight.data()), 64);
}

TEST(MappedWeights, TablesAreReadRowByRowWhereTheyLie) {
  constexpr int64_t kRows = 16384;
  constexpr int64_t kWidth = 512;
  const MappedFile file(::testing::TempDir() + "capra_table_" + std::to_string(::getpid()),
                        kRows * kWidth);
  const Array table = Array::view(DType::F32, {kRows, kWidth}, file.buffer);
  const Parameters parameters{{"t", table}};
  Context context = TraceSink::begin("table");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor ids = sink.input(context, "ids", {DType::I32, {"n"}});
  sink.output(gather(sink.parameter(context, "t", {DType::F32, {kRows, kWidth}}), ids), "y");
  const Graph graph = build_graph(sink.take_tape());
  const auto executable = value_of(compile(cpu::kTarget, graph, parameters));
  ASSERT_NE(executable, nullptr);
  Workspace workspace = executable->make_workspace();
  const Array one = Array::of<int32_t>(DType::I32, {2}, std::vector<int32_t>{7, 4000});
  const auto result = value_of(executable->run(workspace, testing::refs({one})));
  ASSERT_EQ(result.size(), 1U);
  for (int64_t i = 0; i < kWidth; ++i) {
    EXPECT_EQ(result[0].f64_at(i), table.f64_at(7 * kWidth + i));
    EXPECT_EQ(result[0].f64_at(kWidth + i), table.f64_at(4000 * kWidth + i));
  }
  // The system maps pages around those that are touched, a few MiB at most, not the whole table.
  EXPECT_LT(resident_kib(table.data()), kRows * kWidth * 4 / 1024 / 2);
}

TEST(Outputs, MayBeInputsParametersViewsOrTwiceTheSame) {
  const Array w = Array::of<float>(DType::F32, {2}, std::vector<float>{5, 6});
  const Parameters parameters{{"w", w}};
  Context context = TraceSink::begin("outputs");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {"n", 4}});
  const Tensor y = abs(x);
  sink.output(x, "input");
  sink.output(sink.parameter(context, "w", {DType::F32, {2}}), "parameter");
  sink.output(y, "value");
  sink.output(y, "again");
  sink.output(reshape(y, {"n", 2, 2}), "reshaped");
  sink.output(slice(y, {.starts = {0, 1}, .limits = Shape{"n", 3}, .strides = {1, 1}}), "columns");
  const Graph graph = build_graph(sink.take_tape());
  const Array input = Array::of<float>(DType::F32, {1, 4}, std::vector<float>{-1, 2, -3, 4});
  const Array absolute = Array::of<float>(DType::F32, {1, 4}, std::vector<float>{1, 2, 3, 4});
  for (const bool optimize : {false, true}) {
    const auto results =
        testing::run_compiled(cpu::kTarget, graph, parameters, {input}, 1, optimize);
    ASSERT_EQ(results.size(), 6U);
    EXPECT_EQ(results[0], input);
    EXPECT_EQ(results[1], w);
    EXPECT_EQ(results[2], absolute);
    EXPECT_EQ(results[3], absolute);
    EXPECT_EQ(results[4], absolute.reshaped({1, 2, 2}));
    EXPECT_EQ(results[5], Array::of<float>(DType::F32, {1, 2}, std::vector<float>{2, 3}));
  }
}

}  // namespace
}  // namespace capra
