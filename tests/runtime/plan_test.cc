// Plans: views instead of copies, lives that share slots and never overlap, sizes for every
// binding.
#include "capra/runtime/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "capra/ops/abs.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "capra/ops/softmax.h"
#include "capra/passes/fusion_labels.h"
#include "capra/runtime/target.h"
#include "capra/runtime/view_layout.h"
#include "capra/targets/cpu/ops.h"
#include "tests/targets/cpu/encoder_case.h"

namespace capra {
namespace {

using testing::EncoderCase;
using testing::value_of;

Result<std::unique_ptr<Step>> make_step(const StepRequest& request) {
  return cpu::make_cpu_step(request, kernels::kernels());
}

Result<Plan> plan_of(const Graph& graph, const Parameters& parameters = {}) {
  ThreadPool pool(1);
  return make_plan({.graph = graph,
                    .parameters = parameters,
                    .table = cpu::kOpTable,
                    .make_step = make_step,
                    .pool = pool,
                    .target = "cpu"});
}

// A graph made by `body(input)`, whose result is the output.
template <class Body>
Graph graph_of(TensorType type, const Body& body) {
  Context context = TraceSink::begin("test");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", std::move(type));
  sink.output(body(x), "y");
  return build_graph(sink.take_tape());
}

size_t bytes_of(const Plan& plan, const PlanValue& value, std::span<const int64_t> symbols) {
  static_cast<void>(plan);
  size_t bytes = dtype_bytes(value.dtype);
  for (const PlanDim& dim : value.dims) bytes *= static_cast<size_t>(dim.bound(symbols));
  return bytes;
}

// Lives recomputed from the steps, apart from what the planner recorded.
struct Life {
  int32_t begin = -1;
  int32_t end = -1;
};
std::vector<Life> lives_of(const Plan& plan) {
  std::vector<Life> lives(plan.values.size());
  const auto base = [&](int32_t id) {
    return static_cast<size_t>(plan.values[static_cast<size_t>(id)].base);
  };
  for (size_t at = 0; at < plan.steps.size(); ++at) {
    const PlanStep& step = plan.steps[at];
    for (const int32_t id : step.operands) {
      if (id >= 0) lives[base(id)].end = static_cast<int32_t>(at);
    }
    lives[base(step.result)] = {static_cast<int32_t>(at), static_cast<int32_t>(at)};
  }
  for (const PlanCopy& copy : plan.copies) {
    lives[base(copy.value)].end = static_cast<int32_t>(plan.steps.size());
  }
  return lives;
}

// Whether the step that makes `later` is the last to read `earlier` and may write over it.
bool overwrites(const Plan& plan, const std::vector<Life>& lives, size_t earlier, size_t later) {
  if (lives[earlier].end != lives[later].begin) return false;
  const PlanStep& step = plan.steps[static_cast<size_t>(lives[later].begin)];
  for (size_t index = 0; index < step.operands.size(); ++index) {
    if (step.operands[index] == static_cast<int32_t>(earlier) && step.step->may_overwrite(index)) {
      return true;
    }
  }
  return false;
}

// No two values that live at once share a byte, with these symbols.
void expect_no_overlap(const Plan& plan, const std::vector<int64_t>& symbols) {
  SlotLayout layout;
  ASSERT_TRUE(plan.lay_out(symbols, layout).ok());
  const std::vector<Life> lives = lives_of(plan);
  struct Span {
    size_t id, begin, end;
  };
  std::vector<Span> spans;
  for (size_t id = 0; id < plan.values.size(); ++id) {
    const PlanValue& value = plan.values[id];
    if (value.storage != Storage::Slot || value.base != static_cast<int32_t>(id)) continue;
    const size_t begin = layout.offsets[static_cast<size_t>(value.index)];
    const size_t end = begin + bytes_of(plan, value, symbols);
    EXPECT_EQ(begin % Buffer::kAlignment, 0U);
    EXPECT_LE(end, layout.bytes);
    spans.push_back({id, begin, end});
  }
  for (const Span& a : spans) {
    for (const Span& b : spans) {
      if (a.id >= b.id || a.begin >= b.end || b.begin >= a.end) continue;
      const bool apart = lives[a.id].end < lives[b.id].begin ||
                         lives[b.id].end < lives[a.id].begin ||
                         overwrites(plan, lives, a.id, b.id) || overwrites(plan, lives, b.id, a.id);
      EXPECT_TRUE(apart) << "values " << a.id << " and " << b.id;
    }
  }
  // A view stays within the value that owns its memory.
  for (const PlanValue& view : plan.values) {
    int64_t last = view.offset;
    const PlanValue& owner = plan.values[static_cast<size_t>(view.base)];
    if (bytes_of(plan, view, symbols) == 0) continue;
    int64_t plain = 1;
    for (size_t axis = view.dims.size(); axis-- > 0;) {
      const int64_t extent = view.dims[axis].bound(symbols);
      last += (extent - 1) * (view.strides.empty() ? plain : view.strides[axis]);
      plain *= extent;
    }
    EXPECT_LT(static_cast<size_t>(last) * dtype_bytes(owner.dtype), bytes_of(plan, owner, symbols));
  }
}

TEST(Plan, AChainOfMapsNeedsOneSlotAndOneOfMovesTwo) {
  for (const bool maps : {true, false}) {
    const Graph graph = graph_of({DType::F32, {"n", 8}}, [&](Tensor x) {
      for (int i = 0; i < 9; ++i) x = maps ? abs(x) : softmax(x, 0);
      return x;
    });
    const Plan plan = value_of(plan_of(graph));
    // The last value is the output, in the caller's memory.
    EXPECT_EQ(plan.slots, maps ? 1 : 2);
    EXPECT_EQ(plan.steps.size(), 9U);
    for (const int64_t n : {0, 1, 3, 1000}) {
      SlotLayout layout;
      ASSERT_TRUE(plan.lay_out(std::vector<int64_t>{n}, layout).ok());
      const auto one = static_cast<size_t>((n * 32 + 63) / 64 * 64);
      EXPECT_EQ(layout.bytes, static_cast<size_t>(plan.slots) * one) << n;
      expect_no_overlap(plan, {n});
    }
  }
}

TEST(Plan, TheEncodersPeakIsWhatALayerNeeds) {
  const EncoderCase encoder;
  const Graph graph = value_of(optimize(cpu::kTarget, encoder.graph, encoder.parameters));
  const Plan plan = value_of(plan_of(graph, encoder.parameters));
  // The residual stream, what attention gives, and the larger of qkv and the inner state: which is
  // the least that is alive while attention runs.
  for (const std::vector<int64_t>& symbols :
       std::vector<std::vector<int64_t>>{{1, 2}, {7, 3}, {512, 2}, {4096, 33}}) {
    expect_no_overlap(plan, symbols);
    SlotLayout layout;
    ASSERT_TRUE(plan.lay_out(symbols, layout).ok());
    const auto tokens = static_cast<size_t>(symbols[0]);
    EXPECT_LE(layout.bytes, (96 + 96 + 3 * 96) * 4 * tokens + 3 * Buffer::kAlignment);
  }
}

TEST(Plan, ColumnsOfTheQkvProductAreNeverCopied) {
  const EncoderCase encoder({.states = true});
  // Without passes the slices and reshapes stand in the graph by themselves.
  const Graph graph =
      value_of(optimize(cpu::kTarget, encoder.graph, encoder.parameters, {.optimize = false}));
  const Plan plan = value_of(plan_of(graph, encoder.parameters));
  for (const PlanStep& step : plan.steps) {
    EXPECT_NE(step.label, "reshape");
    EXPECT_NE(step.label, "slice");
  }
  const Plan fused = value_of(plan_of(
      value_of(optimize(cpu::kTarget, encoder.graph, encoder.parameters)), encoder.parameters));
  int attentions = 0;
  for (const PlanStep& step : fused.steps) {
    EXPECT_NE(step.label, "reshape");
    EXPECT_NE(step.label, "slice");
    attentions += step.label == kFusedAttentionQkv ? 1 : 0;
  }
  EXPECT_EQ(attentions, 2);
}

TEST(Plan, PackedWeightsAreNotKeptTwice) {
  const EncoderCase encoder;
  const Graph graph = value_of(optimize(cpu::kTarget, encoder.graph, encoder.parameters));
  const Plan plan = value_of(plan_of(graph, encoder.parameters));
  for (const Array& constant : plan.constants) {
    if (constant.sizes().size() != 2) continue;
    // Of the matrices only the embedding tables are read as they are.
    const int64_t rows = constant.sizes()[0];
    EXPECT_EQ(constant.sizes()[1], 96) << rows;
    EXPECT_TRUE(rows == 1000 || rows == 512 || rows <= 2) << rows;
  }
}

// Random graphs of reshapes, slices, sums and maps: whatever is a view, lives never collide.
TEST(Plan, RandomGraphsNeverShareALiveByte) {
  std::mt19937 random(12345);
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  for (int round = 0; round < 200; ++round) {
    Context context = TraceSink::begin("random");
    auto& sink = static_cast<TraceSink&>(context.sink());
    const Dim rows = "rows";
    std::vector<Tensor> wide{sink.input(context, "x", {DType::F32, {rows, 12}})};
    std::vector<Tensor> narrow;
    for (int i = 0; i < 20; ++i) {
      const Tensor& any = wide[below(wide.size())];
      switch (below(5)) {
        case 0:
          wide.push_back(abs(any));
          break;
        case 1:
          wide.push_back(any + wide[below(wide.size())]);
          break;
        case 2: {
          const auto from = static_cast<int64_t>(below(7));
          narrow.push_back(slice(
              any, {.starts = {0, from}, .limits = Shape{rows, from + 6}, .strides = {1, 1}}));
          break;
        }
        case 3:
          wide.push_back(reshape(reshape(any, {rows, 3, 4}), {rows, 12}));
          break;
        default:
          if (!narrow.empty()) {
            const Tensor& a = narrow[below(narrow.size())];
            const Tensor& b = narrow[below(narrow.size())];
            narrow.push_back(reshape(reshape(a, {rows, 2, 3}), {rows, 6}) + b);
          }
      }
    }
    for (int i = 0; i < 2; ++i) sink.output(wide[below(wide.size())], "w" + std::to_string(i));
    if (!narrow.empty()) sink.output(narrow[below(narrow.size())], "n");
    const Graph graph = build_graph(sink.take_tape());
    const Plan plan = value_of(plan_of(graph));
    for (const int64_t n : {0, 1, 5, 64}) expect_no_overlap(plan, {n});

    // And the numbers are those of the eager sink.
    Array input = Array::zeros(DType::F32, {5, 12});
    for (int64_t i = 0; i < input.elements(); ++i) input.set(i, static_cast<double>(i) - 30);
    EXPECT_EQ(testing::run_compiled(cpu::kTarget, graph, {}, {input}, 1, false),
              testing::run_eager(cpu::kTarget, graph, {}, {input}))
        << round;
  }
}

TEST(Plan, ASymbolOfNoInputIsRefused) {
  const Graph graph = graph_of({DType::F32, {8, 4}}, [](const Tensor& x) {
    return slice(x, {.starts = {0, 0}, .limits = Shape{"more", 4}, .strides = {1, 1}});
  });
  const auto plan = plan_of(graph);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, "symbol-unbound");
}

TEST(ViewLayout, SlicesOfRowsStayRowMajor) {
  const std::vector<PlanDim> dims{{0, 0}, {6, -1}, {4, -1}};
  const std::vector<PlanDim> rows{{2, -1}, {6, -1}, {4, -1}};
  const std::vector<int64_t> starts{3, 0, 0};
  const std::vector<int64_t> steps{1, 1, 1};
  EXPECT_EQ(slice_layout(dims, {}, starts, steps, rows), (ViewLayout{72, {}}));
}

TEST(ViewLayout, SlicesOfColumnsHaveStrides) {
  const std::vector<PlanDim> dims{{0, 0}, {12, -1}};
  const std::vector<PlanDim> shape{{0, 0}, {4, -1}};
  const std::vector<int64_t> starts{0, 8};
  const auto columns = slice_layout(dims, {}, starts, {}, shape);
  EXPECT_EQ(columns, (ViewLayout{8, {12, 1}}));
  const std::vector<PlanDim> heads{{0, 0}, {2, -1}, {2, -1}};
  EXPECT_EQ(reshape_layout(shape, *columns, heads), (ViewLayout{8, {12, 2, 1}}));
  // Rows and columns cannot be joined.
  const std::vector<PlanDim> flat{{0, 0}};
  EXPECT_EQ(reshape_layout(shape, *columns, flat), std::nullopt);
}

TEST(ViewLayout, StepsAndUnknownStridesNeedACopy) {
  const std::vector<PlanDim> dims{{8, -1}, {12, -1}};
  const std::vector<PlanDim> half{{4, -1}, {12, -1}};
  const std::vector<int64_t> starts{0, 0};
  const std::vector<int64_t> steps{2, 1};
  EXPECT_EQ(slice_layout(dims, {}, starts, steps, half), std::nullopt);
  const std::vector<PlanDim> unknown{{8, -1}, {0, 0}};
  const std::vector<PlanDim> part{{4, -1}, {0, 0}};
  EXPECT_EQ(slice_layout(unknown, {}, starts, {}, part), std::nullopt);
}

}  // namespace
}  // namespace capra
