// A pool that runs out of memory while it starts its threads: the caller gets std::bad_alloc, and
// the threads started by then are gone. A program of its own, as it replaces operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "capra/base/thread_pool.h"

namespace {

int left = -1;  // allocations until the one that fails; negative: none fails

}  // namespace

// Fails when told to, in the library's own calls too.
void* operator new(size_t size) {
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace capra {
namespace {

TEST(ThreadPool, SurvivesEveryFailedAllocationOfItsStart) {
  constexpr int kThreads = 5;
  int failures = 0;
  for (bool started = false; !started; ++failures) {
    ASSERT_LT(failures, 100);
    left = failures;
    try {
      ThreadPool pool(kThreads);
      left = -1;
      started = true;
    } catch (const std::bad_alloc&) {
      EXPECT_LT(left, 0);
    }
    left = -1;
  }
  EXPECT_GE(failures, kThreads);  // the list of threads and each thread but the caller's
}

}  // namespace
}  // namespace capra
