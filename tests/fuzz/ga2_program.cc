// Any bytes as a GA-2 program, as a listing, as hexadecimal digits and as words: refused with a
// code, or read to instructions that print and encode back to themselves, and that the simulator
// runs or refuses.
#include <cstring>

#include "capra/targets/ga2/isa/encoding.h"
#include "capra/targets/ga2/isa/hex_text.h"
#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/sim/machine.h"

namespace {

void check(const capra::Result<std::vector<capra::ga2::Instruction>>& program) {
  using namespace capra;
  using namespace capra::ga2;
  if (!program.ok()) {
    CAPRA_CHECK(find_diagnostic_code(program.error().code) != nullptr);
    CAPRA_CHECK(!program.error().at.empty());
    return;
  }
  const auto parsed = parse_listing(listing_text(*program), "fuzz");
  CAPRA_CHECK(parsed.ok() && *parsed == *program);
  const auto decoded = decode_program(encode_program(*program));
  CAPRA_CHECK(decoded.ok() && *decoded == *program);
  const auto digits = parse_hex(hex_text(*program), "fuzz");
  CAPRA_CHECK(digits.ok() && *digits == *program);
  Machine machine(std::vector<uint32_t>(64, 0x81));
  const Status status = machine.run(*program);
  CAPRA_CHECK(status.ok() || status.error().code == "program-illegal");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(capra::ga2::parse_listing(text, "fuzz"));
  check(capra::ga2::parse_hex(text, "fuzz"));
  std::vector<uint32_t> words(size / 16 * 4);
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  check(capra::ga2::decode_program(words));
  return 0;
}
