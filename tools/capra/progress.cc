// One line that is rewritten.
#include "tools/capra/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace capra::driver {

void say_remarks(std::span<const std::string> remarks, bool quiet) {
  if (quiet) return;
  for (const std::string& remark : remarks) fmt::print(stderr, "note: {}\n", remark);
}

Progress::Progress(std::string unit, bool quiet)
    : unit_(std::move(unit)),
      enabled_(!quiet && ::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (std::exchange(shown_, false)) std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

void Progress::update(int64_t done, double share) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (seconds < 1 || now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  shown_ = true;
  std::string line = fmt::format("\r\033[K{} {}, {:.0f} a second", done, unit_,
                                 static_cast<double>(done) / seconds);
  if (share > 0) {
    constexpr int kWidth = 30;
    const int filled = std::clamp(static_cast<int>(share * kWidth), 0, kWidth);
    line += fmt::format("  [{:=<{}}{: <{}}] {:.0f} %, {:.0f} s left", "", filled, "",
                        kWidth - filled, share * 100, seconds * (1 - share) / share);
  }
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace capra::driver
