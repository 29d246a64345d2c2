// Running a program of another maker: no shell in between, its words kept, an end to the waiting.
#pragma once

#include <string>
#include <vector>

#include "capra/base/result.h"

namespace capra {

struct ProgramCall {
  std::string path;  ///< of the program's file; nothing is searched
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  ///< `NAME=VALUE`, in place of this process's own
  double seconds = 600;                       ///< it is ended after so many
};

struct ProgramOutcome {
  int exit_code = 0;   ///< 128 and the signal's number where a signal ended it
  std::string output;  ///< standard output, at most its first MiB
  std::string errors;  ///< standard error, likewise
};

/// Runs a program with nothing on its standard input and waits for its end. It and all that it
/// started are a process group, which is ended with it and at the time limit. Fails with
/// `tool-not-started` and `tool-time-limit`. Safe for concurrent calls.
Result<ProgramOutcome> run_program(const ProgramCall& call);

/// Ends the programs that run now, without waiting for them. For handlers of signals: it is
/// async-signal-safe.
void end_programs() noexcept;

}  // namespace capra
