// Progress of long work, for people: only on a terminal, only after about a second, never with
// --quiet.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace capra::driver {

/// Says on standard error what a model was loaded with beyond its checkpoint (approximations,
/// overridden settings), a line each.
void say_remarks(std::span<const std::string> remarks, bool quiet);

class Progress {
 public:
  /// `unit` names what is counted: `texts`.
  Progress(std::string unit, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Erases the line; call it before something else is printed.
  void finish();
  /// `done` so far; `share` of the whole in [0, 1], or negative when that is not known.
  void update(int64_t done, double share);

 private:
  using Clock = std::chrono::steady_clock;
  std::string unit_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace capra::driver
