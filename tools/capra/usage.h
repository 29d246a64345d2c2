// What a command line that cannot be read is told, and which numbers an option takes.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "capra/base/result.h"
#include "tools/capra/cli.h"

namespace capra::driver {

/// What is wrong with the text of a value; empty: nothing.
using ValueCheck = std::function<std::string(const std::string& text)>;

/// A number of a range, both ends included.
ValueCheck whole_number(int64_t least = std::numeric_limits<int64_t>::min(),
                        int64_t most = std::numeric_limits<int64_t>::max());
ValueCheck number(double least, double most = std::numeric_limits<double>::max());

/// A word that `command` does not know; the nearest of `known` is named.
Failure unknown_word(const std::string& word, bool has_commands, const std::string& command,
                     const std::vector<std::string>& known);
/// Of what a check says, `--threads: 'x' is no whole number`.
Failure bad_value(const std::string& said, const std::string& command);
/// Anything else that is wrong with a command line.
Failure bad_line(const std::string& said, const std::string& command);

/// A command that prints `text`: help, or the version.
Command printing(std::string text);

}  // namespace capra::driver
