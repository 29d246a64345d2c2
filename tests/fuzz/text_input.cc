// Any bytes as a file of texts, in every form it can be given in: each line is refused with a code,
// or is a row.
#include "tools/capra/text_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include "capra/base/diagnostic.h"
#include "capra/base/number_text.h"

namespace {

// The form stands in the first byte.
void read_all(const std::string& path, uint8_t form) {
  capra::driver::TextSource source;
  source.input = path;
  source.format = (form & 1) != 0 ? "jsonl" : "lines";
  source.token_ids = (form & 2) != 0;
  auto input = capra::driver::TextInput::open(source, (form & 4) != 0);
  CAPRA_CHECK(input.ok());
  capra::driver::InputRow row;
  int64_t line = 0;
  while (true) {
    const auto more = input->next(row);
    if (!more.ok()) {
      CAPRA_CHECK(capra::find_diagnostic_code(more.error().code) != nullptr);
      return;
    }
    if (!*more) return;
    CAPRA_CHECK(row.line > line && (source.token_ids || row.ids.empty()));
    line = row.line;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const int file = memfd_create("texts", MFD_CLOEXEC);
  CAPRA_CHECK(file >= 0 && ftruncate(file, 0) == 0);
  CAPRA_CHECK(pwrite(file, data + 1, size - 1, 0) == static_cast<ssize_t>(size - 1));
  read_all("/proc/self/fd/" + capra::number_text(file), data[0]);
  return 0;
}
