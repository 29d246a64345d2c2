// Lines of a file or of standard input, as they come.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capra/base/result.h"

namespace capra::driver {

/// Holds one buffer and no line. One thread reads; `stop` and `progress` may be called from others.
class LineReader {
 public:
  /// `path` is a file, or `-` for standard input. Fails with `file-not-found`, `file-unreadable`.
  static Result<LineReader> open(const std::string& path, const std::string& option);

  /// The next line without its end (\n or \r\n) and, on the first, without a byte order mark; a
  /// last line without an end counts. False at the end, and once stopped. Fails with
  /// `input-line-too-long` or `file-unreadable`, at the line.
  Result<bool> next(std::string& line);
  /// The number of the line that was read last, from 1.
  int64_t line() const { return line_; }
  /// What a message says of the line that was read last: `texts.txt: line 3`.
  std::string place() const;

  /// Ends a read that waits, and all that follow.
  void stop();
  /// Share of the file that was read; negative where its size is not known.
  double progress() const;

 private:
  struct Shared;  // what other threads touch, and the descriptors
  explicit LineReader(std::unique_ptr<Shared> shared, std::string name);
  Result<bool> fill();

  struct Deleter {
    void operator()(Shared* shared) const;
  };
  std::unique_ptr<Shared, Deleter> shared_;
  std::string name_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of what is not used yet
  size_t end_ = 0;
  int64_t line_ = 0;
};

}  // namespace capra::driver
