// The scratchpad's words, given out and taken back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capra/base/result.h"

namespace capra::ga2 {

/// One step of the allocator.
struct AllocationEvent {
  bool is_release = false;
  int64_t address = 0;
  int64_t words = 0;
  bool operator==(const AllocationEvent&) const = default;
};

/// First fit in the order of addresses; what is released joins its free neighbours.
class Allocator {
 public:
  explicit Allocator(int64_t words) : free_{{0, words}} {}

  /// The address of `words` words, 1 or more. Fails with `memory-full`.
  Result<int64_t> allocate(int64_t words);
  /// The address of the first of several pieces, one behind the other: each is released alone. With
  /// `at_the_end` they lie at the end of the last free piece that holds them.
  Result<int64_t> allocate_together(std::span<const int64_t> words, bool at_the_end = false);
  /// What `allocate` gave.
  void release(int64_t address, int64_t words);

  int64_t free_words() const;
  /// The highest address given out, and 1.
  int64_t high_water() const { return high_water_; }
  const std::vector<AllocationEvent>& events() const { return events_; }

 private:
  struct Piece {
    int64_t address;
    int64_t words;
  };

  std::vector<Piece> free_;  ///< by address; no two touch
  std::vector<AllocationEvent> events_;
  int64_t high_water_ = 0;
};

}  // namespace capra::ga2
