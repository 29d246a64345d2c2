// Addresses for the blocks of a draft, and when what is loaded.
#pragma once

#include <vector>

#include "capra/targets/ga2/allocate/allocator.h"
#include "capra/targets/ga2/schedule/draft.h"

namespace capra::ga2 {

/// Neighbours outside that one instruction loads.
struct LoadRun {
  size_t before = 0;  ///< the instruction of the draft that needs it
  int64_t address = 0;
  int64_t external = 0;
  int64_t words = 0;
};

struct MemoryPlan {
  std::vector<int64_t> addresses;  ///< by block; no block moves
  std::vector<LoadRun> loads;      ///< in the order of the program
  std::vector<AllocationEvent> events;
  int64_t high_water = 0;
};

/// No plan that loads the same words has fewer loads.
size_t fewest_loads(const MemoryPlan& plan);

/// Loads as much at once as leaves room for what is made before it is used; where that fails, the
/// loads before it get less. Fails with `memory-full`.
Result<MemoryPlan> plan_memory(const Draft& draft);

}  // namespace capra::ga2
