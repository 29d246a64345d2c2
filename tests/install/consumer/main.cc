// Uses the installed library the way a reader of the documentation would.
#include <cstdio>
#include <string>

#include "capra/base/diagnostic.h"
#include "capra/base/version.h"

int main() {
  const std::string version{capra::version()};
  std::printf("capra %s\n", version.c_str());
  const capra::DiagnosticCode* code = capra::find_diagnostic_code("file-not-found");
  if (code == nullptr || version.empty()) return 1;
  std::printf("%s\n", std::string(code->line).c_str());
  return 0;
}
