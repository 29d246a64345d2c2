// The part of the error budget that arises in a written program, where there is no graph.
#pragma once

#include <functional>
#include <vector>

#include "models/embedding_parts.h"
#include "models/error_budget.h"

namespace capra {

/// What program passes approximate in the program that the target writes of the model, and what
/// each of them alone does to the vectors.
class ProgramBudget {
 public:
  /// Finds them; nothing is measured yet.
  static Result<ProgramBudget> find(const EmbeddingModel::Parts& parts);

  /// The program passes that approximate nothing.
  ProgramPassChoice exact_passes() const;
  /// How often `measure` runs a text.
  int64_t runs_of_a_text() const;
  /// Compares, in the oracle, what the program means with one of the passes and without them all.
  /// Where that is not known the part says why. `step` is called after each text.
  std::vector<BudgetPart> measure(const PackedTokens& tokens, const std::function<void()>& step);

 private:
  explicit ProgramBudget(const EmbeddingModel::Parts& parts) : parts_(&parts) {}

  const EmbeddingModel::Parts* parts_;
  Graph graph_;
  std::vector<BudgetPart> found_;
};

/// The approximations among what a compilation reports that were made in the program.
std::vector<Approximation> program_approximations(const PassReport& report);

}  // namespace capra
