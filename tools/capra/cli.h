// The command line: which command, with which options.
#pragma once

#include <functional>

#include "capra/base/result.h"

namespace capra::driver {

/// What the command line asks for, ready to run.
using Command = std::function<Result<int>()>;

/// Fails with `command-line` for unknown commands, flags and values; names the nearest. `--help`
/// and
/// `--version` give a command that prints.
Result<Command> parse_command_line(int argc, const char* const* argv);

}  // namespace capra::driver
