// Workers spin briefly for the next run, then park. Each worker owns a contiguous range of tasks
// and takes from it one by one; a worker that is done takes from the ranges of the others.
#include "capra/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "capra/base/diagnostic.h"

namespace capra {
namespace {

constexpr int kSpins = 4000;  // some 20 us: longer than the gap between two parts of one graph

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  return std::max(1, CPU_COUNT(&set));
}

int quota_cpus(double quota, double period) {
  if (quota <= 0 || period <= 0) return 0;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The limit written in one cgroup folder, 0 when none.
int folder_limit(const std::string& folder) {
  std::istringstream v2(first_line(folder + "/cpu.max"));
  double quota = 0;
  double period = 0;
  if (v2 >> quota >> period) return quota_cpus(quota, period);
  std::istringstream v1(first_line(folder + "/cpu.cfs_quota_us"));
  std::istringstream v1_period(first_line(folder + "/cpu.cfs_period_us"));
  if (v1 >> quota && v1_period >> period) return quota_cpus(quota, period);
  return 0;
}

}  // namespace

int cgroup_cpu_limit(const char* root, const char* self) {
  int limit = 0;
  std::istringstream lines{std::string(self)};
  std::string line;
  while (std::getline(lines, line)) {
    // `hierarchy:controllers:path`; version 2 has no controllers.
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version2 = controllers == ",,";
    if (!version2 && controllers.find(",cpu,") == std::string::npos) continue;
    const std::string base = version2 ? std::string(root) : std::string(root) + "/cpu";
    // A quota anywhere on the way to the root binds.
    for (std::string path = line.substr(second + 1);;) {
      const int here = folder_limit(base + (path == "/" ? "" : path));
      if (here > 0) limit = limit == 0 ? here : std::min(limit, here);
      if (path.empty() || path == "/") break;
      path.resize(path.rfind('/'));
    }
  }
  return limit;
}

int available_cpus() {
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream self;
  self << file.rdbuf();
  const int quota = cgroup_cpu_limit("/sys/fs/cgroup", self.str().c_str());
  const int cpus = affinity_cpus();
  return quota > 0 ? std::min(cpus, quota) : cpus;
}

struct ThreadPool::State {
  struct alignas(64) Range {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  explicit State(int count) : ranges(static_cast<size_t>(count)) {}

  std::vector<Range> ranges;
  std::vector<std::thread> workers;
  std::atomic<bool> taken{false};  // by the one caller whose tasks the workers do

  Task task = nullptr;
  const void* context = nullptr;
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<int> busy{0};
  std::atomic<bool> stop{false};

  // The first exception of a run; the tasks that are left are still taken.
  std::mutex failing;
  std::exception_ptr failure;

  void run_one(int64_t index, int worker) {
    try {
      task(context, index, worker);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (failure == nullptr) failure = std::current_exception();
    }
  }

  // All tasks in the caller's thread; several callers may be here at once.
  static void run_alone(int64_t tasks, Task task, const void* context) {
    std::exception_ptr failure;
    for (int64_t index = 0; index < tasks; ++index) {
      try {
        task(context, index, 0);
      } catch (...) {
        if (failure == nullptr) failure = std::current_exception();
      }
    }
    if (failure != nullptr) std::rethrow_exception(failure);
  }

  void work(int worker) {
    const int count = static_cast<int>(ranges.size());
    for (int step = 0; step < count; ++step) {
      Range& range = ranges[static_cast<size_t>((worker + step) % count)];
      while (true) {
        const int64_t mine = range.next.fetch_add(1, std::memory_order_relaxed);
        if (mine >= range.end) break;
        run_one(mine, worker);
      }
    }
  }

  void loop(int worker) {
    uint32_t seen = 0;
    while (true) {
      int spins = 0;
      while (generation.load(std::memory_order_acquire) == seen && spins < kSpins) {
        pause();
        ++spins;
      }
      generation.wait(seen, std::memory_order_acquire);
      seen = generation.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_acquire)) return;
      work(worker);
      busy.fetch_sub(1, std::memory_order_release);
    }
  }

  void publish() {
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) {
  const int count = threads > 0 ? threads : available_cpus();
  state_ = std::make_unique<State>(count);
  state_->workers.reserve(static_cast<size_t>(count) - 1);
  // A thread that is not joined ends the program, whatever stopped the next one from starting.
  try {
    for (int worker = 1; worker < count; ++worker) {
      state_->workers.emplace_back([state = state_.get(), worker] { state->loop(worker); });
    }
  } catch (const std::system_error& error) {
    const size_t got = state_->workers.size() + 1;
    stop();
    throw Error({"threads-unavailable",
                 "the system gives no more than " + std::to_string(got) + " threads, " +
                     std::to_string(count) + " were asked for: " + error.what(),
                 {},
                 "ask for fewer with --threads"});
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  state_->stop.store(true, std::memory_order_release);
  state_->publish();
  for (std::thread& worker : state_->workers) worker.join();
  state_->workers.clear();
}

int ThreadPool::threads() const { return static_cast<int>(state_->ranges.size()); }

void ThreadPool::run_erased(int64_t tasks, Task task, const void* context) {
  State& state = *state_;
  const int count = threads();
  // No caller waits for another: while one has the workers, the others do their own tasks.
  if (tasks <= 1 || count == 1 || state.taken.exchange(true, std::memory_order_acquire)) {
    State::run_alone(tasks, task, context);
    return;
  }
  state.task = task;
  state.context = context;
  for (int worker = 0; worker < count; ++worker) {
    State::Range& range = state.ranges[static_cast<size_t>(worker)];
    range.next.store(tasks * worker / count, std::memory_order_relaxed);
    range.end = tasks * (worker + 1) / count;
  }
  state.busy.store(count - 1, std::memory_order_relaxed);
  state.publish();
  state.work(0);
  int spins = 0;
  while (state.busy.load(std::memory_order_acquire) != 0) {
    // Workers may share this CPU: give it up after a while.
    if (++spins < kSpins)
      pause();
    else
      std::this_thread::yield();
  }
  const std::exception_ptr failure = std::exchange(state.failure, nullptr);
  state.taken.store(false, std::memory_order_release);
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace capra
