// The error budget: what in a target's arithmetic is an approximation, and what each one does to
// the vectors, one at a time and together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "capra/ir/op_def.h"
#include "models/embedding_model.h"

namespace capra {

enum class BudgetKind : uint8_t {
  Legalization,  ///< another function in the place of an op, recorded on the nodes
  Narrowing,     ///< a conversion to a float dtype that holds fewer values, which passes put in
  Kernel,        ///< an op that the target computes within a bound of the real function
  OwnFunction,   ///< the same where the target's row has a bound of its own, with a reason
};
/// `legalization`, `narrowing`, `kernel`, `own function`.
std::string_view budget_kind_name(BudgetKind kind);

/// One approximation in force.
struct BudgetPart {
  BudgetKind kind = BudgetKind::Kernel;
  std::string name = {};      ///< `gelu=tanh`, `f32 -> bf16`, or the op
  int64_t nodes = 0;          ///< of the graph
  Accuracy bound = {};        ///< of one op; a legalization's has no ulp
  double max_rel = 0;         ///< of each value that is rounded or replaced; 0: none is stated
  std::string reason = {};    ///< what a record says of it; may be empty
  double effect = 0;          ///< largest change of a vector by this one alone
  bool is_measured = true;    ///< false: the effect is not known
  std::string measured = {};  ///< how, or why it is not
};

struct ErrorBudget {
  std::vector<BudgetPart> parts;
  double sum = 0;  ///< of the effects that are known
};

/// Measures each approximation that the model's options and its target bring, on these texts, in
/// the oracle: everything is computed in double precision but the one thing. A legalization is
/// compared with the graph as declared. It is listed once, under the first that asks for it; one
/// that is narrowing alone is the conversions that it puts in; one that is made in a written
/// program is compared with the program without it, read back, and what it does is in no other
/// part. A conversion or an op, computed alone by the target on operands of the declared dtypes,
/// with the legal graph in double precision. The model need not be compiled. `progress` is told how
/// much is done, from 0 to 1.
Result<ErrorBudget> measure_budget(const EmbeddingModel& model, const PackedTokens& tokens,
                                   const std::function<void(double)>& progress = {});

}  // namespace capra
