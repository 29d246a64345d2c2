// golden: runs text tests. `golden FILE...` checks; `golden --bless FILE...` rewrites what is
// expected.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tools/golden/command.h"

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  std::string output;
  const int code = capra::golden::run_command(arguments, std::getenv("CI") != nullptr, output);
  std::fputs(output.c_str(), code == 0 ? stdout : stderr);
  return code;
}
