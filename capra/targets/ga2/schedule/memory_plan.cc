// The draft is walked through with a limit for each load; a walk that fails lowers the last limit
// that can be lowered.
#include "capra/targets/ga2/schedule/memory_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace capra::ga2 {
namespace {

constexpr int kMostWalks = 400;

// What a walk through the draft came to.
struct Outcome {
  MemoryPlan plan;
  std::vector<bool> is_smallest;  ///< by load: it has one part
  std::optional<Diagnostic> failure;
  int64_t missing = 0;  ///< words that would have to be free
};

class Walk {
 public:
  Walk(const Draft& draft, std::span<const int64_t> limits, bool loads_at_the_end)
      : draft_(draft),
        limits_(limits),
        loads_at_the_end_(loads_at_the_end),
        allocator_(kScratchpadWords),
        is_loaded_(draft.parts.size()) {
    outcome_.plan.addresses.assign(draft.blocks.size(), -1);
  }

  Outcome run() {
    for (now_ = 0; now_ < draft_.instructions.size(); ++now_) {
      released_.clear();
      const auto& spots = draft_.instructions[now_].spots;
      // Operands come before the result, which is the first.
      for (size_t k = 0; k < spots.size(); ++k) {
        const int64_t index = spots[(k + 1) % spots.size()].block;
        const Status status = index < 0 ? Status{} : ready(index);
        if (!status.ok()) {
          outcome_.failure = status.error();
          return std::move(outcome_);
        }
      }
      for (const Spot& spot : spots) {
        if (spot.block >= 0) release_after_last(spot.block);
      }
    }
    outcome_.plan.events = allocator_.events();
    outcome_.plan.high_water = allocator_.high_water();
    return std::move(outcome_);
  }

 private:
  const Block& block(int64_t index) const { return draft_.blocks[static_cast<size_t>(index)]; }
  int64_t& address(int64_t index) { return outcome_.plan.addresses[static_cast<size_t>(index)]; }
  const LoadedPart& part(int64_t index) const { return draft_.parts[static_cast<size_t>(index)]; }

  // The last instruction may name the block twice.
  void release_after_last(int64_t index) {
    if (block(index).last != static_cast<int64_t>(now_) || is_released(index)) return;
    allocator_.release(address(index), block(index).words);
    released_.push_back(index);
  }
  bool is_released(int64_t index) const {
    return std::ranges::find(released_, index) != released_.end();
  }

  Status ready(int64_t index) {
    for (const int64_t one : block(index).parts) {
      if (!is_loaded_[static_cast<size_t>(one)]) CAPRA_TRY(load(one));
    }
    if (address(index) >= 0) return {};
    return give_addresses(with_neighbours({index}));
  }

  // Where one of the outputs' blocks gets its place, the others get theirs beside it, if they have
  // none yet.
  std::vector<int64_t> with_neighbours(std::vector<int64_t> blocks) {
    const std::vector<int64_t>& together = draft_.together;
    const bool fresh = std::ranges::all_of(together, [&](int64_t one) { return address(one) < 0; });
    if (together.empty() || !fresh) return blocks;
    if (blocks.size() == 1 && std::ranges::find(together, blocks[0]) != together.end())
      return together;
    if (blocks.front() == together.back()) {
      blocks.insert(blocks.begin(), together.begin(), together.end() - 1);
    } else if (blocks.back() == together.front()) {
      blocks.insert(blocks.end(), together.begin() + 1, together.end());
    }
    return blocks;
  }

  Status give_addresses(const std::vector<int64_t>& blocks, bool at_the_end = false) {
    std::vector<int64_t> words;
    words.reserve(blocks.size());
    int64_t all = 0;
    for (const int64_t one : blocks) {
      words.push_back(block(one).words);
      all += words.back();
    }
    const Result<int64_t> first = allocator_.allocate_together(words, at_the_end);
    if (!first.ok()) {
      outcome_.missing = std::max<int64_t>(1, all - allocator_.free_words());
      return fail(first.error());
    }
    int64_t at = *first;
    for (const int64_t one : blocks) {
      address(one) = at;
      at += block(one).words;
    }
    return {};
  }

  bool has_words_before(const LoadedPart& one) const { return one.offset > 0; }
  bool has_words_behind(const LoadedPart& one) const {
    return one.offset + one.words < block(one.block).words;
  }
  bool is_fresh(int64_t index) {
    return !is_loaded_[static_cast<size_t>(index)] && address(part(index).block) < 0;
  }
  static bool touch(const LoadedPart& x, const LoadedPart& y) {
    return x.external + x.words == y.external && x.block != y.block;
  }

  Status load(int64_t index) {
    int64_t first = index;
    int64_t last = index;
    int64_t words = part(index).words;
    if (address(part(index).block) >= 0) {
      begin_load(first, last, words);
    } else {
      const size_t number = outcome_.plan.loads.size();
      const int64_t limit =
          number < limits_.size() ? limits_[number] : std::numeric_limits<int64_t>::max();
      const auto fits = [&](int64_t one) { return words + part(one).words <= limit; };
      while (last + 1 < std::ssize(draft_.parts) && !has_words_behind(part(last)) &&
             touch(part(last), part(last + 1)) && is_fresh(last + 1) &&
             !has_words_before(part(last + 1)) && fits(last + 1)) {
        words += part(++last).words;
      }
      while (first > 0 && !has_words_before(part(first)) && touch(part(first - 1), part(first)) &&
             is_fresh(first - 1) && !has_words_behind(part(first - 1)) && fits(first - 1)) {
        words += part(--first).words;
      }
      std::vector<int64_t> blocks;
      blocks.reserve(static_cast<size_t>(last - first + 1));
      for (int64_t one = first; one <= last; ++one) blocks.push_back(part(one).block);
      begin_load(first, last, words);
      CAPRA_TRY(give_addresses(with_neighbours(std::move(blocks)), loads_at_the_end_));
    }
    for (int64_t one = first; one <= last; ++one) is_loaded_[static_cast<size_t>(one)] = true;
    outcome_.plan.loads.back().address = address(part(first).block) + part(first).offset;
    return {};
  }

  void begin_load(int64_t first, int64_t last, int64_t words) {
    outcome_.plan.loads.push_back({now_, 0, part(first).external, words});
    outcome_.is_smallest.push_back(first == last);
  }

  const Draft& draft_;
  std::span<const int64_t> limits_;  // words, by load
  bool loads_at_the_end_;
  Allocator allocator_;
  std::vector<bool> is_loaded_;    // by part
  std::vector<int64_t> released_;  // after the current instruction
  size_t now_ = 0;
  Outcome outcome_;
};

// Lower limits only make more loads: one of more than `most_loads` ends the search.
Result<MemoryPlan> search(const Draft& draft, bool loads_at_the_end, size_t most_loads) {
  std::vector<int64_t> limits;
  std::optional<Diagnostic> first_failure;
  for (int walk = 0; walk < kMostWalks; ++walk) {
    Outcome outcome = Walk(draft, limits, loads_at_the_end).run();
    if (outcome.plan.loads.size() > most_loads) break;
    if (!outcome.failure) return std::move(outcome.plan);
    if (!first_failure) first_failure = outcome.failure;
    size_t loads = outcome.plan.loads.size();
    while (loads > 0 && outcome.is_smallest[loads - 1]) --loads;
    if (loads == 0) break;
    limits.resize(loads, std::numeric_limits<int64_t>::max());
    limits.back() = std::max<int64_t>(1, outcome.plan.loads[loads - 1].words - outcome.missing);
  }
  return first_failure ? fail(*first_failure) : fail("memory-full", "no plan has so few loads");
}

}  // namespace

size_t fewest_loads(const MemoryPlan& plan) {
  int64_t words = 0;
  for (const LoadRun& one : plan.loads) words += one.words;
  return static_cast<size_t>((words + kScratchpadWords - 1) / kScratchpadWords);
}

Result<MemoryPlan> plan_memory(const Draft& draft) {
  Result<MemoryPlan> plan = search(draft, false, std::numeric_limits<size_t>::max());
  if (plan.ok() && plan->loads.size() <= fewest_loads(*plan)) return plan;
  // With loads at the other end, what they leave is in fewer pieces.
  const size_t fewer = plan.ok() ? plan->loads.size() - 1 : std::numeric_limits<size_t>::max();
  Result<MemoryPlan> other = search(draft, true, fewer);
  return other.ok() ? std::move(other) : std::move(plan);
}

}  // namespace capra::ga2
