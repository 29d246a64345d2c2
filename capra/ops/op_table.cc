// Lookup in a target's table.
#include "capra/ops/op_table.h"

#include <algorithm>
#include <utility>

namespace capra {

const OpRow* OpTable::find(const OpDef& op, TypeRefs operands, const Attrs& attrs,
                           const TensorType& result) const {
  for (const OpRow* row : rows_) {
    if (row->op != &op) continue;
    if (row->takes == nullptr || row->takes(operands, attrs, result)) return row;
  }
  return nullptr;
}

OpBound OpTable::bound(const OpDef& op) const {
  for (const OpRow* row : rows_) {
    if (row->op == &op && !row->accuracy_reason.empty()) {
      return {&op, row->accuracy, row->accuracy_reason};
    }
  }
  const auto found = std::ranges::find(bounds_, &op, &OpBound::op);
  return found == bounds_.end() ? OpBound{&op, op.accuracy, {}} : *found;
}

bool OpTable::names(const OpDef& op) const {
  return std::ranges::any_of(rows_, [&](const OpRow* row) { return row->op == &op; });
}

std::string OpTable::help(const OpDef& op) const {
  bool is_named = false;
  for (const OpRow* row : rows_) {
    if (row->op != &op) continue;
    if (!row->help.empty()) return std::string(row->help);
    is_named = true;
  }
  return std::string(is_named ? "convert to a dtype the target takes, or use another target"
                              : "write it in other ops, or use another target") +
         "; 'capra ops' lists what each one runs";
}

bool Granularity::keeps(const OpDef& op) const {
  return std::ranges::find(kept, &op) != kept.end();
}

bool takes(const OpTable& table, const Granularity& granularity, const OpDef& op, TypeRefs operands,
           const Attrs& attrs, const TensorType& result) {
  return granularity.keeps(op) || table.find(op, operands, attrs, result) != nullptr;
}

Diagnostic op_not_legal(std::string_view target, const OpTable& table, const OpDef& op,
                        TypeRefs operands, std::string at) {
  return {"op-not-legal", std::string(target) + " does not run " + call_text(op, operands),
          std::move(at), table.help(op)};
}

}  // namespace capra
