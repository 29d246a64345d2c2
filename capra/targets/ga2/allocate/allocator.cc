// The list of free pieces.
#include "capra/targets/ga2/allocate/allocator.h"

#include <algorithm>

#include "capra/base/number_text.h"

namespace capra::ga2 {

Result<int64_t> Allocator::allocate(int64_t words) {
  const auto piece =
      std::ranges::find_if(free_, [&](const Piece& one) { return one.words >= words; });
  if (piece == free_.end()) {
    int64_t left = 0;
    for (const Piece& one : free_) left += one.words;
    return fail("memory-full",
                "scratchpad is full: cannot place a buffer of " + number_text(words) +
                    " words (free: " + number_text(left) + " words in " +
                    number_text(free_.size()) + " pieces)",
                {}, "use smaller matrices, or let buffers be reused");
  }
  const int64_t address = piece->address;
  piece->address += words;
  piece->words -= words;
  if (piece->words == 0) free_.erase(piece);
  high_water_ = std::max(high_water_, address + words);
  events_.push_back({.is_release = false, .address = address, .words = words});
  return address;
}

void Allocator::release(int64_t address, int64_t words) {
  events_.push_back({.is_release = true, .address = address, .words = words});
  auto next = std::ranges::lower_bound(free_, address, {}, &Piece::address);
  const bool joins_next = next != free_.end() && address + words == next->address;
  const bool joins_last =
      next != free_.begin() && std::prev(next)->address + std::prev(next)->words == address;
  if (joins_last) {
    std::prev(next)->words += words + (joins_next ? next->words : 0);
    if (joins_next) free_.erase(next);
  } else if (joins_next) {
    *next = {address, words + next->words};
  } else {
    free_.insert(next, {address, words});
  }
}

}  // namespace capra::ga2
