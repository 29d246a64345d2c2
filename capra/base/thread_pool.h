// A pool of threads that runs numbered tasks. How tasks are split never changes what they compute.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace capra {

/// CPUs this process may use: the smaller of its affinity mask and its cgroup CPU quota (rounded
/// up), at least 1.
int available_cpus();

/// Reads a quota from cgroup files under `root` (version 2 `cpu.max`, version 1 `cpu.cfs_quota_us`)
/// for the group named in `self` (the text of /proc/self/cgroup); 0 when there is none.
int cgroup_cpu_limit(const char* root, const char* self);

/// A pool of `threads` workers, the caller among them. Several threads may call `run` at once and
/// none waits for another: one has the workers, the others do their tasks alone.
class ThreadPool {
 public:
  /// `threads` >= 1; 0 means available_cpus(). Throws `Error` (`threads-unavailable`) when the
  /// system refuses one, std::bad_alloc without memory; the threads started by then have ended.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  /// Calls `body(task, worker)` once for each task in [0, tasks), worker in [0, threads()), and
  /// returns when all are done. Each worker takes a contiguous range, then helps with what is left.
  /// The first exception of a body is thrown again here, when all are done. No allocation, and no
  /// lock unless a body throws. A body that calls `run` of the same pool does those tasks alone; it
  /// then sees `worker` 0, also in other workers' tasks.
  template <class Body>
  void run(int64_t tasks, const Body& body) {
    run_erased(
        tasks,
        [](const void* context, int64_t task, int worker) {
          (*static_cast<const Body*>(context))(task, worker);
        },
        &body);
  }

 private:
  using Task = void (*)(const void* context, int64_t task, int worker);
  void stop();
  void run_erased(int64_t tasks, Task task, const void* context);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capra
