// Evaluations of one model side by side: of a target with an eager sink three of a packed batch, of
// one that runs programs its own of one text.
#include "models/verify.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "models/comparison.h"
#include "models/embedding_parts.h"
#include "models/program_budget.h"

namespace capra {
namespace {

using Parts = EmbeddingModel::Parts;

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.outputs()) {
    names.push_back(graph.node(id).attrs_as<OutputAttrs>().name);
  }
  return names;
}

// Both graphs output every state.
class Verifier {
 public:
  static Result<Verifier> open(const Parts& parts) {
    Verifier verifier(parts);
    verifier.exact_graph_ = parts.encoder->trace({.form = SequenceForm::Packed, .states = true});
    CAPRA_ASSIGN(verifier.graph_, parts.approximated(verifier.exact_graph_));
    CAPRA_ASSIGN(verifier.executable_, compile(*parts.target, verifier.graph_,
                                               parts.weights.parameters, parts.compile_options()));
    verifier.workspace_ = verifier.executable_->make_workspace(parts.pool);
    verifier.eager_context_ = eager_context(*parts.target, &parts.weights.parameters, parts.pool);
    return verifier;
  }

  std::vector<std::string> names() const { return output_names(graph_); }

  Result<States> optimized(const PackedTokens& tokens, int64_t first, int64_t last) {
    BatchWorkspace batch;
    fill_batch(*parts_.encoder, tokens.ids, tokens.offsets, first, last, batch);
    std::array<int64_t, 2> extents;
    return executable_->run_unrounded(workspace_, batch_inputs(batch, extents));
  }

  // What the text is when it is alone.
  Result<TextStates> alone(const PackedTokens& tokens, int64_t text) {
    BatchWorkspace batch;
    fill_batch(*parts_.encoder, tokens.ids, tokens.offsets, text, text + 1, batch);
    TextStates states;
    CAPRA_ASSIGN(states.alone, optimized(tokens, text, text + 1));
    CAPRA_ASSIGN(states.eager, eager(batch));
    CAPRA_ASSIGN(states.exact, interpret(exact_graph_, batch_arrays(batch),
                                         parts_.weights.parameters, parts_.pool));
    return states;
  }

 private:
  explicit Verifier(const Parts& parts) : parts_(parts) {}

  Result<States> eager(const BatchWorkspace& batch) {
    std::vector<Tensor> inputs;
    for (Array& array : batch_arrays(batch)) {
      inputs.push_back(Tensor::of_data(eager_context_, std::move(array)));
    }
    try {
      States states;
      for (const Tensor& state : replay(graph_, eager_context_, inputs)) {
        states.push_back(state.array());
      }
      return states;
    } catch (const Error& error) {
      return fail(error.diagnostic());
    }
  }

  const Parts& parts_;
  Graph exact_graph_;
  Graph graph_;
  std::unique_ptr<Executable> executable_;
  Workspace workspace_;
  Context eager_context_;
};

Result<Verification> verify_batches(const Parts& parts, const PackedTokens& tokens,
                                    const Reference* reference,
                                    const std::function<void(int64_t)>& progress) {
  CAPRA_ASSIGN(Verifier verifier, Verifier::open(parts));
  Comparison comparison(parts, tokens, reference, verifier.names());
  CAPRA_TRY(comparison.check_reference());
  for (int64_t first = 0; first < tokens.sequences();) {
    const int64_t last = batch_end(tokens.offsets, first, parts.token_budget);
    CAPRA_ASSIGN(const States states, verifier.optimized(tokens, first, last));
    const int64_t begin = tokens.offsets[static_cast<size_t>(first)];
    for (int64_t text = first; text < last; ++text) {
      const int64_t from = tokens.offsets[static_cast<size_t>(text)] - begin;
      const int64_t to = tokens.offsets[static_cast<size_t>(text) + 1] - begin;
      CAPRA_ASSIGN(TextStates all, verifier.alone(tokens, text));
      all.fast = rows_of(states, from, to);
      CAPRA_TRY(comparison.add(text, all));
      if (progress) progress(text + 1);
    }
    first = last;
  }
  return comparison.finish();
}

// The program is the one that `capra export` writes: one text in, the last state out.
Result<Verification> verify_program(const Parts& parts, const PackedTokens& tokens,
                                    const Reference* reference,
                                    const std::function<void(int64_t)>& progress) {
  const Graph exact_graph = parts.encoder->trace({.form = SequenceForm::Single});
  CAPRA_ASSIGN(Graph graph, parts.approximated(exact_graph));
  Comparison comparison(parts, tokens, reference, output_names(graph));
  CAPRA_TRY(comparison.check_reference());
  PassReport report;
  CompileOptions options = parts.compile_options();
  options.report = &report;
  CAPRA_ASSIGN(const std::unique_ptr<Executable> executable,
               compile(*parts.target, std::move(graph), parts.weights.parameters, options));
  Workspace workspace = executable->make_workspace(parts.pool);
  for (int64_t text = 0; text < tokens.sequences(); ++text) {
    const auto begin = static_cast<size_t>(tokens.offsets[static_cast<size_t>(text)]);
    const auto end = static_cast<size_t>(tokens.offsets[static_cast<size_t>(text) + 1]);
    const Array ids =
        Array::of<int32_t>(DType::I32, {static_cast<int64_t>(end - begin)},
                           std::span<const int32_t>(tokens.ids).subspan(begin, end - begin));
    TextStates states;
    CAPRA_ASSIGN(states.fast, executable->run_unrounded(workspace, {{InputRef(ids)}}));
    CAPRA_ASSIGN(states.exact,
                 interpret(exact_graph, {{ids}}, parts.weights.parameters, parts.pool));
    CAPRA_TRY(comparison.add(text, states));
    if (progress) progress(text + 1);
  }
  Verification result = comparison.finish();
  result.is_program = true;
  std::ranges::move(program_approximations(report), std::back_inserter(result.approximations));
  return result;
}

}  // namespace

Result<Verification> verify_model(const EmbeddingModel& model, const PackedTokens& tokens,
                                  const Reference* reference,
                                  const std::function<void(int64_t)>& progress) {
  const Parts& parts = model.parts();
  CAPRA_TRY(check_packed(*parts.encoder, tokens.ids, tokens.offsets));
  const bool is_program = !eager_context(*parts.target);
  return (is_program ? verify_program : verify_batches)(parts, tokens, reference, progress);
}

}  // namespace capra
