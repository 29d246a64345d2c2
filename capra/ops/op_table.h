// A target's table: which ops it runs natively, on which types. Legality lives here and nowhere
// else; passes and sinks ask it, emitters and executors extend its rows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "capra/ir/op_def.h"

namespace capra {

/// One op that a target runs itself. Targets derive from it and add how.
struct OpRow {
  const OpDef* op = nullptr;
  /// Whether these types and attributes are within the row; null: every combination the record
  /// allows.
  bool (*takes)(TypeRefs operands, const Attrs& attrs, const TensorType& result) = nullptr;
  /// Wider than the record's bound only with a reason.
  Accuracy accuracy = {};
  std::string_view accuracy_reason = {};
  /// What to do about a call that the row does not take; empty: a matter of dtypes.
  std::string_view help = {};
};

/// How far an op may be off on a target, at f32, and why, where that is not the record's bound.
struct OpBound {
  const OpDef* op = nullptr;
  Accuracy accuracy = {};
  std::string_view reason = {};  ///< empty: the record's bound holds
};

/// The rows of one target. An op may have several rows; the first that takes the types is used.
class OpTable {
 public:
  /// `bounds`: of ops that the rows compute as decompositions, where the record's do not hold then.
  constexpr explicit OpTable(std::span<const OpRow* const> rows,
                             std::span<const OpBound> bounds = {})
      : rows_(rows), bounds_(bounds) {}

  std::span<const OpRow* const> rows() const { return rows_; }
  std::span<const OpBound> bounds() const { return bounds_; }
  /// The bound of a row that has its own, else that of a decomposition, else the record's.
  OpBound bound(const OpDef& op) const;
  /// The row that runs `op` on these types, or null: decompose, or refuse.
  const OpRow* find(const OpDef& op, TypeRefs operands, const Attrs& attrs,
                    const TensorType& result) const;
  /// Whether any row names `op`.
  bool names(const OpDef& op) const;
  /// What to do about a call of `op` that no row takes.
  std::string help(const OpDef& op) const;

 private:
  std::span<const OpRow* const> rows_;
  std::span<const OpBound> bounds_;
};

/// Ops that reach a target whole although its table has no row for them: whoever compiles or writes
/// the legal graph sees the op with its attributes, and may still take its decomposition.
struct Granularity {
  std::span<const OpDef* const> kept = {};
  bool keeps(const OpDef& op) const;
};

/// Whether a target with this table and granularity runs the call itself or takes it whole.
bool takes(const OpTable& table, const Granularity& granularity, const OpDef& op, TypeRefs operands,
           const Attrs& attrs, const TensorType& result);

/// `op-not-legal`: what a target says of an op that it has no row for and cannot decompose.
Diagnostic op_not_legal(std::string_view target, const OpTable& table, const OpDef& op,
                        TypeRefs operands, std::string at);

}  // namespace capra
