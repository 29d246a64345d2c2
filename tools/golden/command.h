// The command line of the text-test runner.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace capra::golden {

/// `[--bless] FILE...`. What is said is appended to `output`. 0: every case passed; 1: some failed;
/// 2: a file could not be read, or the arguments are wrong. With `--bless` the expected text of
/// cases whose execution agrees is rewritten; `ci` says that this is CI, where that is refused.
int run_command(std::span<const std::string_view> arguments, bool ci, std::string& output);

}  // namespace capra::golden
