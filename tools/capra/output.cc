// Files, pipes and devices, signals, and the errors of full disks and closed pipes.
#include "tools/capra/output.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "capra/base/process/hold_signals.h"
#include "capra/base/subprocess.h"
#include "tools/capra/command.h"

namespace capra::driver {
namespace {

void remove_and_end() {
  end_holds();
  end_programs();
  remove_unfinished();
}

extern "C" void remove_and_stop(int signal) {
  remove_and_end();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A broken invariant has printed itself: no core, no half-written file, the code of a bug.
extern "C" void remove_and_report(int) {
  remove_and_end();
  constexpr std::string_view kReport =
      "  this is a bug: please report it with the command and its input\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kReport.data(), kReport.size());
  ::_exit(kInternal);
}

// The driver's code for an output, whatever made it.
Failure as_output(Diagnostic diagnostic) {
  diagnostic.code = "output-unwritable";
  return fail(std::move(diagnostic));
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGABRT, remove_and_report);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    // What the caller ignores (nohup) stays ignored.
    if (std::signal(signal, remove_and_stop) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

Result<Output> Output::open(const std::string& path) {
  if (path == "-") return Output(stdout, "standard output");
  if (is_special_file(path)) {
    Output output(std::fopen(path.c_str(), "w"), path);
    if (output.stream_ == nullptr) return output.failure(errno);
    return output;
  }
  Result<NewFile> file = NewFile::create(path);
  if (!file.ok()) return as_output(file.error());
  Output output(file->stream(), path);
  output.file_.emplace(std::move(*file));
  return output;
}

Output::Output(Output&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)), path_(std::move(other.path_)) {
  if (other.file_) file_.emplace(std::move(*other.file_));
  other.file_.reset();
}

Output::~Output() {
  if (!file_ && stream_ != nullptr && stream_ != stdout) std::fclose(stream_);
}

Failure Output::failure(int error) const {
  if (error == EPIPE) {
    return fail("output-closed", "the reader of the output has gone; not all rows were written",
                path_, "let the reader take all rows, or give fewer texts");
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

Status Output::flush() {
  if (!is_file() && std::fflush(stream_) != 0) return failure(errno);
  return {};
}

Status Output::finish() {
  if (std::fflush(stream_) != 0) return failure(errno);
  if (stream_ == stdout) return {};
  std::FILE* stream = std::exchange(stream_, nullptr);
  if (!file_) return std::fclose(stream) == 0 ? Status() : failure(errno);
  const Status finished = file_->finish();
  file_.reset();
  if (!finished.ok()) return as_output(finished.error());
  return {};
}

Status print_result(std::string_view text) { return write_output("-", text); }

Status write_output(const std::string& path, std::string_view text) {
  CAPRA_ASSIGN(Output output, Output::open(path));
  CAPRA_TRY(output.write(text));
  return output.finish();
}

}  // namespace capra::driver
