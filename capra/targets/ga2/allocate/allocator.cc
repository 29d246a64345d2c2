// The list of free pieces.
#include "capra/targets/ga2/allocate/allocator.h"

#include <algorithm>
#include <numeric>

#include "capra/base/number_text.h"

namespace capra::ga2 {

Result<int64_t> Allocator::allocate(int64_t words) { return allocate_together({&words, 1}); }

Result<int64_t> Allocator::allocate_together(std::span<const int64_t> words, bool at_the_end) {
  const int64_t all = std::accumulate(words.begin(), words.end(), int64_t{0});
  const auto fits = [&](const Piece& one) { return one.words >= all; };
  auto piece = std::ranges::find_if(free_, fits);
  if (at_the_end && piece != free_.end()) {
    piece = std::prev(std::find_if(free_.rbegin(), free_.rend(), fits).base());
  }
  if (piece == free_.end()) {
    return fail("memory-full",
                "scratchpad is full: cannot place a buffer of " + number_text(all) +
                    " words (free: " + number_text(free_words()) + " words in " +
                    number_text(free_.size()) + " pieces)",
                {}, "use smaller matrices, or let buffers be reused");
  }
  const int64_t address = piece->address + (at_the_end ? piece->words - all : 0);
  if (!at_the_end) piece->address += all;
  piece->words -= all;
  if (piece->words == 0) free_.erase(piece);
  high_water_ = std::max(high_water_, address + all);
  int64_t at = address;
  for (const int64_t one : words) {
    events_.push_back({.is_release = false, .address = at, .words = one});
    at += one;
  }
  return address;
}

int64_t Allocator::free_words() const {
  int64_t words = 0;
  for (const Piece& one : free_) words += one.words;
  return words;
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
