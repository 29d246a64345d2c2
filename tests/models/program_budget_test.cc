// What program passes approximate: in the budget, measured alone, and in no other part.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "capra/interp/interp.h"
#include "capra/targets/stablehlo/target.h"
#include "models/error_budget.h"
#include "models/verify.h"
#include "tests/models/small_model.h"

namespace capra {
namespace {

// Of erf(x) - tanh(x), near x = 0.83.
constexpr double kLargestError = 0.082;

// A program as it is read back, run by the oracle.
class ReadExecutable : public Executable {
 public:
  ReadExecutable(const Graph& graph, ReadProgram program)
      : Executable(input_ports(graph), output_ports(graph)), program_(std::move(program)) {}

  Workspace make_workspace(std::shared_ptr<ThreadPool>) const override {
    return Workspace(std::make_unique<Workspace::State>());
  }

  using Executable::run;
  Status run(Workspace&, std::span<const InputRef> inputs,
             std::span<const OutputRef> outputs) const override {
    std::vector<Array> arrays;
    std::vector<TensorType> types;
    for (const InputRef& input : inputs) {
      Array array = Array::zeros(input.dtype, {input.sizes.begin(), input.sizes.end()});
      if (array.byte_size() > 0) {
        std::memcpy(array.mutable_data(), input.data, array.byte_size());
      }
      types.push_back(array.type());
      arrays.push_back(std::move(array));
    }
    CAPRA_ASSIGN(const Graph graph, program_.graph(types));
    CAPRA_ASSIGN(const std::vector<Array> results, interpret(graph, arrays, program_.parameters));
    for (size_t i = 0; i < results.size(); ++i) {
      CAPRA_TRY(store(results[i], outputs[i], this->outputs()[i]));
    }
    return {};
  }

 private:
  ReadProgram program_;
};

Result<std::unique_ptr<Executable>> compile_read(const Target& target, const Graph& graph,
                                                 const Parameters& parameters,
                                                 const CompileOptions& options) {
  const auto read = stablehlo::kTarget.read_back;
  CAPRA_ASSIGN(ReadProgram program, read(target, graph, parameters, options.program));
  if (options.report != nullptr) *options.report = program.passes;
  return std::unique_ptr<Executable>(std::make_unique<ReadExecutable>(graph, std::move(program)));
}

// Every operation `from` becomes `to`, which is of static storage, and is recorded.
Status replace(stablehlo::Module& module, PassContext& context, const Rewrite& record,
               std::string_view from, std::string_view to) {
  for (stablehlo::Function& function : module.functions) {
    for (stablehlo::Operation& operation : function.operations) {
      if (operation.name != from) continue;
      operation.name = to;
      context.report.rewrites.push_back(record);
      context.report.rewrites.back().node = "@" + function.name;
      context.report.rewrites.back().note = std::string(from) + " -> " + std::string(to);
    }
  }
  return {};
}

Status erf_to_tanh(stablehlo::Module& module, PassContext& context) {
  const Rewrite record{.pass = "erf-as-tanh",
                       .rule = "tanh",
                       .node = {},
                       .reason = "no erf there",
                       .max_abs_error = kLargestError};
  return replace(module, context, record, "chlo.erf", "stablehlo.tanh");
}

// There is a tanh only where the other pass has put it.
Status tanh_to_abs(stablehlo::Module& module, PassContext& context) {
  const Rewrite record{.pass = "tanh-as-abs",
                       .rule = "abs",
                       .node = {},
                       .reason = "no tanh there",
                       .max_abs_error = 100};
  return replace(module, context, record, "stablehlo.tanh", "stablehlo.abs");
}

constexpr ProgramPass kErf =
    stablehlo::program_pass<erf_to_tanh>("erf-as-tanh", "Erf is tanh.", NumericEffect::Approximate);
constexpr ProgramPass kTanh =
    stablehlo::program_pass<tanh_to_abs>("tanh-as-abs", "Tanh is abs.", NumericEffect::Approximate);

template <const ProgramPass&... kPasses>
std::span<const ProgramPass* const> passes() {
  static constexpr const ProgramPass* kList[] = {&kPasses...};
  return kList;
}

constexpr Target kNoErf{.name = "no-erf",
                        .summary = "Programs without erf.",
                        .base = &stablehlo::kTarget,
                        .optimizer = {.program_passes = passes<kErf>},
                        .compile = compile_read};

struct Measured {
  ErrorBudget budget;
  Verification verification;

  std::vector<BudgetPart> parts(BudgetKind kind) const {
    std::vector<BudgetPart> found;
    std::ranges::copy_if(budget.parts, std::back_inserter(found),
                         [&](const BudgetPart& part) { return part.kind == kind; });
    return found;
  }
};

Measured measured(const Target& target) {
  constexpr std::string_view kTexts[] = {"a b c", "cafe d e a b", "a"};
  static const testing::SmallModel folder;
  const EmbeddingOptions options{
      .target = std::string(target.name), .targets = {&target}, .compile = false};
  const EmbeddingModel model = EmbeddingModel::load(folder.path(), options).value_or_throw();
  const PackedTokens tokens = model.tokenize(kTexts).value_or_throw();
  double last = 0;
  const auto progress = [&](double done) {
    EXPECT_GT(done, last);
    last = done;
  };
  ErrorBudget budget = measure_budget(model, tokens, progress).value_or_throw();
  EXPECT_EQ(last, 1);
  return {std::move(budget), verify_model(model, tokens, nullptr).value_or_throw()};
}

TEST(ProgramBudget, APassOnTheProgramIsAPart) {
  const Measured found = measured(kNoErf);
  const std::vector<BudgetPart> parts = found.parts(BudgetKind::Legalization);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "erf-as-tanh");
  EXPECT_EQ(parts[0].nodes, 2);  // one GELU in each of two layers
  EXPECT_EQ(parts[0].bound.max_abs, kLargestError);
  EXPECT_EQ(parts[0].reason, "no erf there");
  EXPECT_TRUE(parts[0].is_measured);
  EXPECT_GT(parts[0].effect, 1e-4);
  // All else is of the size of roundings.
  EXPECT_NEAR(parts[0].effect, found.verification.vector_error, 1e-6);
  // Erf itself is run without the pass.
  const std::vector<BudgetPart> own = found.parts(BudgetKind::OwnFunction);
  const auto erf = std::ranges::find(own, "erf", &BudgetPart::name);
  ASSERT_NE(erf, own.end());
  EXPECT_LT(erf->effect, 1e-6);
}

TEST(ProgramBudget, APassOnTheProgramIsInForce) {
  const std::vector<Approximation> all = measured(kNoErf).verification.approximations;
  ASSERT_EQ(all.size(), 2U);
  for (const Approximation& one : all) {
    EXPECT_EQ(one.node, "@bert");
    EXPECT_EQ(one.legalized_from, "chlo.erf");
    EXPECT_EQ(one.legalized_to, "stablehlo.tanh");
    EXPECT_EQ(one.reason, "no erf there");
    EXPECT_EQ(one.max_abs_error, kLargestError);
  }
}

TEST(ProgramBudget, WhatFindsNothingAloneSaysSo) {
  static constexpr Target kBoth{.name = "both",
                                .summary = "Programs without erf and tanh.",
                                .base = &stablehlo::kTarget,
                                .optimizer = {.program_passes = passes<kErf, kTanh>},
                                .compile = compile_read};
  const std::vector<BudgetPart> parts = measured(kBoth).parts(BudgetKind::Legalization);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_TRUE(parts[0].is_measured);
  EXPECT_EQ(parts[1].name, "tanh-as-abs");
  EXPECT_EQ(parts[1].nodes, 2);
  EXPECT_FALSE(parts[1].is_measured);
  EXPECT_EQ(parts[1].measured,
            "not measured alone: it changes nothing without the other approximations");
}

// Programs whose meaning no op has.
Result<ReadProgram> read_nothing(const Target& target, const Graph& graph,
                                 const Parameters& parameters, const WriteOptions& options) {
  CAPRA_ASSIGN(ReadProgram program,
               stablehlo::kTarget.read_back(target, graph, parameters, options));
  program.graph = [](std::span<const TensorType>) -> Result<Graph> {
    return fail("op-not-legal", "no op says what dsp.fir does");
  };
  return program;
}

TEST(ProgramBudget, WhatCannotBeReadBackSaysSo) {
  static constexpr Target kUnread{.name = "unread",
                                  .summary = "Programs that no one reads.",
                                  .base = &kNoErf,
                                  .read_back = read_nothing};
  const Measured found = measured(kUnread);
  const std::vector<BudgetPart> parts = found.parts(BudgetKind::Legalization);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].nodes, 2);
  EXPECT_EQ(parts[0].bound.max_abs, kLargestError);
  EXPECT_FALSE(parts[0].is_measured);
  EXPECT_EQ(parts[0].measured, "not measured alone: no op says what dsp.fir does");
  EXPECT_LT(found.budget.sum, 1e-5);
  EXPECT_GT(found.verification.vector_error, 1e-4);
}

}  // namespace
}  // namespace capra
