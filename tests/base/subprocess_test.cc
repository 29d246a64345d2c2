// Programs that speak, fail, do not end, and leave others behind.
#include "capra/base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

namespace capra {
namespace {

// The tests' own use of a shell: it is the program that is run.
ProgramCall script(const std::string& text) {
  return {.path = "/bin/sh", .arguments = {"-c", text}, .seconds = 60};
}

ProgramOutcome outcome(const ProgramCall& call) {
  Result<ProgramOutcome> result = run_program(call);
  EXPECT_TRUE(result.ok()) << to_text(result.error());
  return std::move(result).value();
}

TEST(Subprocess, WordsAndCode) {
  const ProgramOutcome done = outcome(script("echo one; echo two >&2; exit 3"));
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(done.output, "one\n");
  EXPECT_EQ(done.errors, "two\n");
}

TEST(Subprocess, ArgumentsReachTheProgramAsTheyAre) {
  const std::vector<std::string> arguments = {"%s\n%s\n", "a b; $HOME `id` *", ""};
  const ProgramOutcome done = outcome({.path = "/usr/bin/printf", .arguments = arguments});
  EXPECT_EQ(done.output, "a b; $HOME `id` *\n\n");
}

TEST(Subprocess, EnvironmentIsReplacedByName) {
  ::setenv("CAPRA_TEST_VARIABLE", "before", 1);
  ProgramCall call = script("echo \"$CAPRA_TEST_VARIABLE\"; test -n \"$PATH\"");
  EXPECT_EQ(outcome(call).output, "before\n");
  call.environment = {"CAPRA_TEST_VARIABLE=after"};
  const ProgramOutcome done = outcome(call);
  EXPECT_EQ(done.output, "after\n");
  EXPECT_EQ(done.exit_code, 0);
}

TEST(Subprocess, NothingToRead) { EXPECT_EQ(outcome({.path = "/bin/cat"}).exit_code, 0); }

TEST(Subprocess, MuchIsReadAndTheFirstPartKept) {
  const ProgramOutcome done =
      outcome(script("head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2"));
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.output.size(), size_t{1} << 20);
  EXPECT_EQ(done.errors.size(), size_t{1} << 20);
}

TEST(Subprocess, EndedByASignal) {
  EXPECT_EQ(outcome(script("kill -TERM $$")).exit_code, 128 + SIGTERM);
}

TEST(Subprocess, IgnoredSignalsAreNotInherited) {
  struct sigaction before{};
  ::sigaction(SIGPIPE, nullptr, &before);
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(outcome(script("kill -PIPE $$")).exit_code, 128 + SIGPIPE);
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST(Subprocess, NoSuchProgram) {
  for (const char* path : {"/nowhere/program", "/etc/passwd", "/etc"}) {
    const Result<ProgramOutcome> result = run_program({.path = path});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, "tool-not-started");
    EXPECT_EQ(result.error().at, path);
  }
}

TEST(Subprocess, TheTimeLimitEndsAllThatWasStarted) {
  const auto start = std::chrono::steady_clock::now();
  ProgramCall call = script("sleep 300 & sleep 300");
  call.seconds = 0.2;
  const Result<ProgramOutcome> result = run_program(call);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "tool-time-limit");
  EXPECT_NE(result.error().message.find("0.2 seconds"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// A program that is done is not waited for any longer because something it started holds its pipes.
TEST(Subprocess, WhatIsLeftBehindIsNotWaitedFor) {
  const auto start = std::chrono::steady_clock::now();
  const ProgramOutcome done = outcome(script("sleep 300 & echo done"));
  EXPECT_EQ(done.output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Subprocess, EndPrograms) {
  std::thread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    end_programs();
  });
  const ProgramOutcome done = outcome(script("sleep 50"));
  other.join();
  EXPECT_EQ(done.exit_code, 128 + SIGKILL);
}

TEST(Subprocess, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(8);
  for (size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back(
        [&outputs, i] { outputs[i] = outcome(script("echo " + std::to_string(i))).output; });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], std::to_string(i) + "\n");
}

}  // namespace
}  // namespace capra
