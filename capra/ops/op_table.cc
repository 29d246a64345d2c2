// Lookup in a target's table.
#include "capra/ops/op_table.h"

#include <algorithm>

namespace capra {

const OpRow* OpTable::find(const OpDef& op, TypeRefs operands, const Attrs& attrs,
                           const TensorType& result) const {
  for (const OpRow* row : rows_) {
    if (row->op != &op) continue;
    if (row->takes == nullptr || row->takes(operands, attrs, result)) return row;
  }
  return nullptr;
}

bool OpTable::names(const OpDef& op) const {
  return std::ranges::any_of(rows_, [&](const OpRow* row) { return row->op == &op; });
}

}  // namespace capra
