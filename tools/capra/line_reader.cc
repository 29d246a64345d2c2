// read(2) into one buffer, with poll(2) before it, so that a wait can be ended from outside.
#include "tools/capra/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "capra/base/number_text.h"

namespace capra::driver {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;
constexpr size_t kMaxLineBytes = size_t{64} << 20;

}  // namespace

struct LineReader::Shared {
  int file = -1;
  int wake[2] = {-1, -1};  // a pipe: its end is ready once stopped
  std::atomic<bool> stopped{false};
  std::atomic<int64_t> bytes_read{0};
  double size = -1;

  ~Shared() {
    for (const int descriptor : {file == STDIN_FILENO ? -1 : file, wake[0], wake[1]}) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }
};

void LineReader::Deleter::operator()(Shared* shared) const { delete shared; }

LineReader::LineReader(std::unique_ptr<Shared> shared, std::string name)
    : shared_(shared.release()), name_(std::move(name)), buffer_(kBufferBytes) {}

Result<LineReader> LineReader::open(const std::string& path, const std::string& option) {
  auto shared = std::make_unique<Shared>();
  const std::string name = path == "-" ? "standard input" : path;
  const auto unreadable = [&](int error) {
    return fail(error == ENOENT ? "file-not-found" : "file-unreadable", std::strerror(error), name,
                "check the path given to " + option);
  };
  shared->file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (shared->file < 0) return unreadable(errno);
  // Before the pipe, which would take the place of a standard input that is closed.
  struct stat status{};
  if (::fstat(shared->file, &status) != 0) return unreadable(errno);
  if (S_ISDIR(status.st_mode)) {
    return fail("file-unreadable", "is a folder", name, "give a file to " + option);
  }
  if (S_ISREG(status.st_mode)) shared->size = static_cast<double>(status.st_size);
  if (::pipe2(static_cast<int*>(shared->wake), O_CLOEXEC) != 0) return unreadable(errno);
  return LineReader(std::move(shared), name);
}

std::string LineReader::place() const { return name_ + ": line " + number_text(line_); }

void LineReader::stop() {
  shared_->stopped = true;
  // A byte or two in all, for which a pipe has room.
  [[maybe_unused]] const ssize_t written = ::write(shared_->wake[1], "x", 1);
}

double LineReader::progress() const {
  if (shared_->size <= 0) return -1;
  return static_cast<double>(shared_->bytes_read.load()) / shared_->size;
}

// More bytes into the empty buffer; false at the end.
Result<bool> LineReader::fill() {
  while (!shared_->stopped) {
    pollfd ready[] = {{shared_->file, POLLIN, 0}, {shared_->wake[0], POLLIN, 0}};
    if (::poll(static_cast<pollfd*>(ready), 2, -1) < 0 && errno != EINTR) {
      return fail("file-unreadable", std::strerror(errno), place(), "check the file");
    }
    if (shared_->stopped || ready[0].revents == 0) continue;
    const ssize_t got = ::read(shared_->file, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail("file-unreadable", std::strerror(errno), place(), "check the file");
    begin_ = 0;
    end_ = static_cast<size_t>(got);
    shared_->bytes_read += got;
    return got > 0;
  }
  return false;
}

Result<bool> LineReader::next(std::string& line) {
  line.clear();
  ++line_;
  bool any = false;
  while (true) {
    if (begin_ == end_) {
      CAPRA_ASSIGN(const bool more, fill());
      if (!more) break;
    }
    any = true;
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const size_t end = rest.find('\n');
    line.append(rest.substr(0, end));
    if (line.size() > kMaxLineBytes) {
      return fail("input-line-too-long", "a line is longer than 64 MiB", place(),
                  "check that the file is text, one input a line");
    }
    begin_ = end == std::string_view::npos ? end_ : begin_ + end + 1;
    if (end != std::string_view::npos) break;
  }
  if (shared_->stopped) return false;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (line_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return any;
}

}  // namespace capra::driver
