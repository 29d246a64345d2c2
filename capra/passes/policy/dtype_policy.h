// In which dtype ops compute: what a target or a user states by op and scope, and what an author
// notes on a node.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capra/passes/pass.h"

namespace capra {

/// One statement: these ops compute in `dtype`.
struct DTypeRule {
  const OpDef* op = nullptr;  ///< null: every op
  std::string scope = {};     ///< of the model, with what is inside it; empty: everywhere
  DType dtype = DType::F32;   ///< a float
};

/// Of several rules for a node the one counts that is nowhere wider than the others: the same or
/// an inner scope, the same op or one where others say every op.
using DTypePolicy = std::vector<DTypeRule>;

/// `attention=bf16`, `encoder.layer.0:linear=f32`, `encoder.layer.0:*=f32`, `*=f16`.
std::string dtype_rule_text(const DTypeRule& rule);

/// A policy of texts in the form of `dtype_rule_text`. Fails with `op-unknown`,
/// `dtype-policy-invalid` for another form, a dtype that is no float and an op that computes on no
/// floats, and `dtype-policy-contradictory` for two dtypes of the same ops in the same scope.
Result<DTypePolicy> parse_dtype_policy(std::span<const std::string> texts, OpSet ops);

/// Half a unit in the last place of a value of a float dtype in its normal range, relative to it.
double rounding_error(DType dtype);

/// A pass that makes the nodes compute in the dtype that `policy`, or before it their own note
/// `dtypePolicy = "bf16"`, states: float operands are converted to it and the result back to the
/// dtype that it had, so that the types of all other nodes stay. Widening operands is exact. Where
/// a dtype does not hold every value of an operand or of the result, the node gets the notes
/// `legalizedFrom`, `maxRelError` (of each value that is rounded to the dtype, in its normal range)
/// and `reason`. Fails with `dtype-policy-invalid` and, where no rule for a node counts before the
/// others and their dtypes differ, with `dtype-policy-contradictory`.
Pass apply_dtype_policy(DTypePolicy policy, std::string reason);

/// The same without rules: by the notes of nodes alone.
extern const Pass kApplyDTypePolicy;

}  // namespace capra
