// The thread pool: every task once, from many callers, with the same results; and how many CPUs.
#include "capra/base/thread_pool.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <stdexcept>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/base/temp_folder.h"

namespace capra {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> counts(static_cast<size_t>(tasks));
      std::atomic<bool> workers_in_range{true};
      pool.run(tasks, [&](int64_t task, int worker) {
        counts[static_cast<size_t>(task)].fetch_add(1);
        if (worker < 0 || worker >= threads) workers_in_range = false;
      });
      for (const auto& count : counts) EXPECT_EQ(count.load(), 1);
      EXPECT_TRUE(workers_in_range.load());
    }
  }
}

TEST(ThreadPool, ResultsDoNotDependOnTheThreads) {
  const auto computed = [](int threads) {
    ThreadPool pool(threads);
    std::vector<float> values(997);
    pool.run(997, [&](int64_t task, int) {
      float sum = 0;
      for (int64_t i = 0; i <= task; ++i) sum += 1.0f / static_cast<float>(i + 1);
      values[static_cast<size_t>(task)] = sum;
    });
    return values;
  };
  const std::vector<float> one = computed(1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(computed(threads), one) << threads;
}

TEST(ThreadPool, TasksSeeWhatEarlierRunsWrote) {
  ThreadPool pool(4);
  std::vector<int64_t> values(64, 0);
  std::vector<int64_t> next(64, 0);
  for (int64_t round = 1; round <= 300; ++round) {
    pool.run(64, [&](int64_t task, int) {
      next[static_cast<size_t>(task)] = values[static_cast<size_t>(63 - task)] + 1;
    });
    std::swap(values, next);
    ASSERT_EQ(std::ranges::count(values, round), 64);
  }
}

TEST(ThreadPool, ManyCallersShareOnePool) {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        std::vector<int> own(40, 0);
        pool.run(40, [&](int64_t task, int) { own[static_cast<size_t>(task)] += 1; });
        total += std::ranges::count(own, 1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 6 * 50 * 40);
}

TEST(ThreadPool, AnExceptionOfATaskReachesTheCaller) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> ran{0};
    const auto body = [&](int64_t task, int) {
      ++ran;
      if (task == 5) throw std::runtime_error("task 5");
    };
    EXPECT_THROW(pool.run(10, body), std::runtime_error);
    EXPECT_EQ(ran, 10);  // the tasks after it as well
    // The pool is as good as before.
    ran = 0;
    pool.run(5, body);
    EXPECT_EQ(ran, 5);
  }
}

TEST(ThreadPool, TheFirstExceptionIsTheOneThrown) {
  ThreadPool pool(1);
  try {
    pool.run(3, [](int64_t task, int) { throw task; });
    FAIL();
  } catch (const int64_t task) {
    EXPECT_EQ(task, 0);
  }
}

TEST(ThreadPool, NoRunWaitsForAnother) {
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> others{0};
    pool.run(4, [&](int64_t, int) {
      std::thread other([&] { pool.run(5, [&](int64_t, int) { ++others; }); });
      other.join();
    });
    EXPECT_EQ(others.load(), 4 * 5);
  }
}

TEST(ThreadPool, ATaskMayRunTasks) {
  ThreadPool pool(3);
  std::atomic<int> inner{0};
  pool.run(6, [&](int64_t, int) {
    pool.run(7, [&](int64_t, int worker) { inner += worker == 0 ? 1 : 100; });
  });
  EXPECT_EQ(inner.load(), 6 * 7);
}

TEST(ThreadPool, WorkersWakeUpAfterAPause) {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they have parked
    // Two tasks that meet need two threads.
    std::atomic<int> here{0};
    pool.run(2, [&](int64_t, int) {
      ++here;
      while (here.load() < 2) std::this_thread::yield();
    });
    ASSERT_EQ(here.load(), 2);
  }
}

TEST(ThreadPool, UnevenTasksAreShared) {
  // The first worker's range blocks until a task of another range has run.
  ThreadPool pool(2);
  std::atomic<bool> other_ran{false};
  pool.run(4, [&](int64_t task, int) {
    if (task == 0) {
      while (!other_ran.load()) std::this_thread::yield();
    } else if (task == 3) {
      other_ran = true;
    }
  });
  EXPECT_TRUE(other_ran.load());
}

TEST(Cpus, FollowTheAffinityMask) {
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(available_cpus(), 1);
  EXPECT_LE(available_cpus(), CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cpus(), 1);
  EXPECT_EQ(ThreadPool().threads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

/// A folder that looks like /sys/fs/cgroup.
class CgroupFolder {
 public:
  void write(const std::string& path, const std::string& text) { folder_.write(path, text); }
  int limit(const char* self) const { return cgroup_cpu_limit(folder_.path().c_str(), self); }

 private:
  TempFolder folder_;
};

TEST(Cpus, ReadVersion2Quotas) {
  CgroupFolder folder;
  EXPECT_EQ(folder.limit("0::/a/b\n"), 0);  // no files at all
  folder.write("a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(folder.limit("0::/a/b\n"), 2);  // rounded up
  EXPECT_EQ(folder.limit("0::/a\n"), 0);
  folder.write("a/cpu.max", "100000 100000\n");
  EXPECT_EQ(folder.limit("0::/a/b\n"), 1);  // the parent binds
  folder.write("a/cpu.max", "max 100000\n");
  EXPECT_EQ(folder.limit("0::/a/b\n"), 2);
  folder.write("a/b/cpu.max", "1000 100000\n");
  EXPECT_EQ(folder.limit("0::/a/b\n"), 1);  // never less than one
  folder.write("cpu.max", "300000 100000\n");
  EXPECT_EQ(folder.limit("0::/\n"), 3);
}

TEST(Cpus, ReadVersion1Quotas) {
  CgroupFolder folder;
  folder.write("cpu/a/cpu.cfs_quota_us", "250000\n");
  folder.write("cpu/a/cpu.cfs_period_us", "100000\n");
  const char* self = "5:memory:/x\n4:cpu,cpuacct:/a\n0::/\n";
  EXPECT_EQ(folder.limit(self), 3);
  folder.write("cpu/a/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(folder.limit(self), 0);
  EXPECT_EQ(folder.limit("4:cpuset:/a\n"), 0);  // another controller
  EXPECT_EQ(folder.limit("nonsense\n\n::\n"), 0);
  EXPECT_EQ(folder.limit(""), 0);
}

}  // namespace
}  // namespace capra
