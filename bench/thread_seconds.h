// The clock of benchmarks on one thread.
#pragma once

#include <time.h>

namespace capra::bench {

/// CPU time of the calling thread: a call that was interrupted does not look slower than it is.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace capra::bench
