// Temporary names, renames, and the errors of full disks and closed pipes.
#include "tools/capra/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tools/capra/command.h"

namespace capra::driver {
namespace {

// The one unfinished file, for signal handlers: they may only read it.
char unfinished[4096];
std::atomic<bool> has_unfinished{false};

void remember(const std::string& path) {
  if (path.size() >= sizeof unfinished) return;
  std::memcpy(unfinished, path.c_str(), path.size() + 1);
  has_unfinished.store(true, std::memory_order_release);
}

void forget() { has_unfinished.store(false, std::memory_order_release); }

extern "C" void remove_and_stop(int signal) {
  if (has_unfinished.load(std::memory_order_acquire)) ::unlink(unfinished);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A broken invariant has printed itself: no core, no half-written file, the code of a bug.
extern "C" void remove_and_report(int) {
  if (has_unfinished.load(std::memory_order_acquire)) ::unlink(unfinished);
  constexpr std::string_view kReport =
      "  this is a bug: please report it with the command and its input\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kReport.data(), kReport.size());
  ::_exit(kInternal);
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGABRT, remove_and_report);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    // What the caller ignores (nohup) stays ignored.
    if (std::signal(signal, remove_and_stop) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

Result<Output> Output::open(const std::string& path) {
  if (path == "-") return Output(stdout, "standard output", {});
  const auto unwritable = [&](int error) {
    return fail("output-unwritable", std::strerror(error), path.empty() ? "--output" : path,
                "check the folder and its permissions");
  };
  if (path.empty()) return unwritable(ENOENT);
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return unwritable(EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    // A device or a named pipe is written to; a rename would put a file in its place.
    std::FILE* stream = std::fopen(path.c_str(), "w");
    if (stream == nullptr) return unwritable(errno);
    return Output(stream, path, {});
  }
  // What a link points to is replaced, not the link.
  std::string name = path;
  if (char* real = exists ? ::realpath(path.c_str(), nullptr) : nullptr; real != nullptr) {
    name = real;
    std::free(real);
  }
  std::string temporary = name + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return unwritable(errno);
  remember(temporary);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, exists ? status.st_mode & 0777 : 0666 & ~mask);
  std::FILE* stream = ::fdopen(descriptor, "w+");
  CAPRA_CHECK(stream != nullptr);
  return Output(stream, std::move(name), std::move(temporary));
}

Output::Output(Output&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

Output::~Output() {
  if (stream_ == nullptr || stream_ == stdout) return;
  std::fclose(stream_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget();
}

Failure Output::failure(int error) const {
  if (error == EPIPE) {
    return fail("output-closed", "the reader of the output has gone; not all rows were written",
                path_);
  }
  return fail("output-unwritable", std::strerror(error), path_,
              "check the free space and the permissions");
}

Status Output::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) return failure(errno);
  return {};
}

Status Output::rewrite_start(std::string_view bytes) {
  if (std::fseek(stream_, 0, SEEK_SET) != 0) return failure(errno);
  CAPRA_TRY(write(bytes));
  if (std::fseek(stream_, 0, SEEK_END) != 0) return failure(errno);
  return {};
}

Status Output::finish() {
  if (std::fflush(stream_) != 0) return failure(errno);
  if (stream_ == stdout) return {};
  if (temporary_.empty()) {
    return std::fclose(std::exchange(stream_, nullptr)) == 0 ? Status() : failure(errno);
  }
  std::FILE* stream = std::exchange(stream_, nullptr);
  const std::string temporary = std::exchange(temporary_, {});
  const bool closed = std::fclose(stream) == 0;
  if (!closed || ::rename(temporary.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    forget();
    return failure(error);
  }
  forget();
  return {};
}

Status print_result(std::string_view text) {
  CAPRA_ASSIGN(Output output, Output::open("-"));
  CAPRA_TRY(output.write(text));
  return output.finish();
}

}  // namespace capra::driver
