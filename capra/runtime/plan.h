// The plan of a graph: its steps in order and the memory of every value. Extents may be symbolic;
// the plan holds for every binding, sizes are found per run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/ops/op_table.h"
#include "capra/runtime/step.h"

namespace capra {

/// An extent: a number, or the position of a symbol in Plan::symbols.
struct PlanDim {
  int64_t size = 0;
  int32_t symbol = -1;
  int64_t bound(std::span<const int64_t> symbols) const {
    return symbol < 0 ? size : symbols[static_cast<size_t>(symbol)];
  }
  friend bool operator==(const PlanDim&, const PlanDim&) = default;
};

/// Whose memory a value lies in.
enum class Storage : uint8_t { Input, Constant, Slot, Output };

/// One value of the graph. A value that only looks into another (a reshape, a slice) has the same
/// storage and an offset.
struct PlanValue {
  DType dtype = DType::F32;
  std::vector<PlanDim> dims;
  Storage storage = Storage::Slot;
  int32_t index = -1;            ///< which input, constant, slot or output
  int32_t base = -1;             ///< the value that owns the memory; itself if it is no view
  int64_t offset = 0;            ///< elements from the start of the base
  std::vector<int64_t> strides;  ///< in elements; empty: row-major
  int32_t first_step = -1;       ///< of a base in a slot: the step that writes it
  int32_t last_step = -1;        ///< and the last that reads it or a view of it
};

struct PlanStep {
  std::unique_ptr<Step> step;
  std::vector<int32_t> operands;  ///< values; -1 where absent, or taken up when the step was made
  int32_t result = -1;
  std::string label;  ///< of the group or op
  std::string path;
};

/// An output whose value lies elsewhere (an input, a constant, a view, another output).
struct PlanCopy {
  int32_t value = -1;
  int32_t output = -1;
};

/// What types with symbols cannot say: a slice must end within the extent of its operand (`limit`
/// on `axis`), a reshape must keep the number of elements (`axis` -1).
struct PlanCheck {
  int32_t operand = -1;
  int32_t result = -1;
  int32_t axis = -1;
  PlanDim limit;
  std::string path;
};

/// Where the slots of one binding lie.
struct SlotLayout {
  std::vector<size_t> offsets;  ///< bytes from the start of the arena, a slot each
  size_t bytes = 0;             ///< of the arena
};

struct Plan {
  std::vector<std::string> symbols;
  std::vector<PlanValue> values;
  std::vector<PlanStep> steps;
  std::vector<Array> constants;  ///< those that steps read when they run
  std::vector<int32_t> inputs;   ///< the value of each input
  std::vector<int32_t> outputs;  ///< the value of each output
  std::vector<PlanCopy> copies;
  std::vector<PlanCheck> checks;
  int32_t slots = 0;

  /// Sizes and places of the slots for these symbols. Reuses the vector it is given. Fails with
  /// `shape-too-large` where a value has more bytes than any memory.
  Status lay_out(std::span<const int64_t> bound_symbols, SlotLayout& layout) const;
};

/// What a plan is made with.
struct PlanRequest {
  const Graph& graph;
  const Parameters& parameters;
  const OpTable& table;
  MakeStep make_step;
  ThreadPool& pool;
  std::string_view target;
};

/// Makes the steps (packing weights), finds views, and gives values whose lives do not overlap the
/// same slot. Fails with `op-not-legal`, `parameter-missing`, `parameter-type`, `symbol-unbound`,
/// `rank-unsupported` or a step's diagnostic.
Result<Plan> make_plan(const PlanRequest& request);

}  // namespace capra
