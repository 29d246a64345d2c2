// posix_spawn, two pipes, and a deadline.
#include "capra/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/base/process/hold_signals.h"

extern char** environ;

namespace capra {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostKept = size_t{1} << 20;

// Process groups of programs that run, for end_programs; more than these are not remembered.
std::array<std::atomic<pid_t>, 64> running{};

std::atomic<pid_t>* remember(pid_t group) {
  for (std::atomic<pid_t>& place : running) {
    pid_t free = 0;
    if (place.compare_exchange_strong(free, group)) return &place;
  }
  return nullptr;
}

// The read end of a pipe whose write end a program was given.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    close_end(read_end_);
    close_end(write_end_);
  }

  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end_ = ends[0];
    write_end_ = ends[1];
    return ::fcntl(read_end_, F_SETFL, O_NONBLOCK) == 0;
  }
  int read_end() const { return read_end_; }
  int write_end() const { return write_end_; }
  void close_write_end() { close_end(write_end_); }

  // Takes what is there; closes at the end.
  void read_some() {
    char buffer[4096];
    while (read_end_ >= 0) {
      const ssize_t got = ::read(read_end_, buffer, sizeof buffer);
      if (got > 0) {
        const size_t room = kMostKept - text_.size();
        text_.append(buffer, std::min(room, static_cast<size_t>(got)));
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_end(read_end_);
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }
  std::string take_text() { return std::move(text_); }

 private:
  static void close_end(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }

  int read_end_ = -1;
  int write_end_ = -1;
  std::string text_;
};

// Null-terminated pointers to the texts, as the system takes them.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> merged = changes;
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool changed = std::ranges::any_of(
        changes, [&](const std::string& change) { return name_of(change) == name_of(*entry); });
    if (!changed) merged.emplace_back(*entry);
  }
  return merged;
}

Failure not_started(const std::string& path, int error) {
  return fail("tool-not-started", std::strerror(error), path,
              "check that the file is a program for this machine");
}

// Signals that this process ignores or handles have their usual meaning in the program.
int spawn(const ProgramCall& call, const Channel& output, const Channel& errors, pid_t& process) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.write_end(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors.write_end(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&signals, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);

  std::vector<std::string> arguments = {call.path};
  arguments.insert(arguments.end(), call.arguments.begin(), call.arguments.end());
  std::vector<std::string> environment = merged_environment(call.environment);
  const int error = ::posix_spawn(&process, call.path.c_str(), &actions, &attributes,
                                  pointers(arguments).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Waits for more words, for as long as it makes sense before looking whether the program ended.
void wait_for_words(const Channel& output, const Channel& errors) {
  pollfd waiting[2];
  nfds_t count = 0;
  for (const Channel* channel : {&output, &errors}) {
    if (channel->read_end() >= 0) waiting[count++] = {channel->read_end(), POLLIN, 0};
  }
  constexpr int kSilent = 20;  // milliseconds; a program that ends closes its pipes, which wakes
  constexpr int kEnding = 1;
  ::poll(waiting, count, count > 0 ? kSilent : kEnding);
}

int exit_code_of(int status) {
  constexpr int kSignal = 128;
  return WIFSIGNALED(status) ? kSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ProgramOutcome> run_program(const ProgramCall& call) {
  Channel output;
  Channel errors;
  if (!output.open() || !errors.open()) return not_started(call.path, errno);
  pid_t process = 0;
  std::atomic<pid_t>* place = nullptr;
  {
    const HoldSignals guard;
    const int error = spawn(call, output, errors, process);
    if (error != 0) return not_started(call.path, error);
    place = remember(process);
  }
  output.close_write_end();
  errors.close_write_end();

  const auto deadline = Clock::now() + std::chrono::duration<double>(call.seconds);
  bool in_time = true;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(process, &status, WNOHANG)) == 0) {
    if (in_time && Clock::now() >= deadline) {
      in_time = false;
      ::kill(-process, SIGKILL);
    }
    wait_for_words(output, errors);
    output.read_some();
    errors.read_some();
  }
  if (place != nullptr) place->store(0);
  ::kill(-process, SIGKILL);  // what the program left running
  CAPRA_CHECK(ended == process);
  output.read_some();
  errors.read_some();
  if (!in_time) {
    return fail(
        "tool-time-limit",
        "the program ran for more than " + number_text(call.seconds) + " seconds and was ended",
        call.path, "allow it more time, or give it less to do");
  }
  return ProgramOutcome{exit_code_of(status), output.take_text(), errors.take_text()};
}

void end_programs() noexcept {
  wait_for_holds();
  for (const std::atomic<pid_t>& place : running) {
    const pid_t group = place.load();
    if (group != 0) ::kill(-group, SIGKILL);
  }
}

}  // namespace capra
