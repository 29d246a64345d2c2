// A compiled graph: the program, where everything lies, and how its integers are to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capra/targets/ga2/allocate/allocator.h"
#include "capra/targets/ga2/allocate/places.h"
#include "capra/targets/ga2/isa/instruction.h"
#include "capra/targets/ga2/network.h"
#include "capra/targets/ga2/quantize/requantizers.h"
#include "capra/targets/ga2/quantize/scales.h"

namespace capra::ga2 {

/// An input, weight or output in external memory.
struct ExternalRegion {
  std::string name;
  NodeIndex node = 0;
  int64_t address = 0;
  int64_t words = 0;
  /// Of a weight that does not stand there as it is (in rows; of 4 bits, packed): what does.
  std::vector<uint32_t> contents = {};
};

enum class Schedule : uint8_t {
  Author,  ///< the author's order of nodes; nothing is reordered or dropped
  Fast,    ///< the same outputs in fewer cycles
};

struct Program {
  Schedule schedule = Schedule::Author;
  Network network;
  ScalePlan plan;
  std::vector<Requantizer> requantizers;  ///< of the graph, in the order of nodes
  std::vector<bool> has_fused_relu;       ///< by node
  std::vector<Instruction> instructions;
  /// Inputs and weights, then outputs, by address. The fast schedule leaves out weights that
  /// nothing reads, and gives equal weights, and outputs that show the same words, one place.
  std::vector<ExternalRegion> external;
  int64_t external_words = 0;
  int64_t scratchpad_high = 0;  ///< the highest address used, and 1
  std::vector<AllocationEvent> events;
  /// By node: where it lay when the program ended. None for one that has no place, or whose place
  /// was given to another tensor, and for all of the fast schedule.
  std::vector<std::optional<int64_t>> addresses;

  double scale(NodeIndex node) const { return plan.scales[static_cast<size_t>(node)]; }
  /// The requantizer of a node, or of an operand of a sum; null where there is none.
  const Requantizer* requantizer(NodeIndex node, std::optional<int64_t> operand = {}) const;
};

/// Words of external memory of the chip as it is built.
inline constexpr int64_t kExternalWords = 8192;

struct CompileOptions {
  TaggedRanges ranges = {};
  /// Where the fast schedule fails or is none the faster, it is the author's.
  Schedule schedule = Schedule::Author;
  /// False: every buffer keeps its place, so that all tensors can be read after a run. Only the
  /// author's schedule has that.
  bool reuse = true;
  int64_t external_words = kExternalWords;
};

/// Compiles the graph, with scales chosen from the samples. Fails as `plan_scales` and `place` do,
/// with `memory-full`, `inner-dimension-too-large`, `multiplier-out-of-range`, and with
/// `option-invalid` for the fast schedule without reuse.
Result<Program> compile(const Network& network, std::span<const Sample> calibration,
                        const CompileOptions& options = {});

}  // namespace capra::ga2
