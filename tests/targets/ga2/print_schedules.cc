// Prints the table of docs/ga2.md.
#include <cstdio>

#include "tests/targets/ga2/schedule_table.h"

int main() {
  std::fputs(capra::ga2::schedule_table().c_str(), stdout);
  return 0;
}
