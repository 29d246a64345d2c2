// capra ga2 asm and disasm: listings to words and back.
#include <algorithm>
#include <utility>

#include "capra/base/buffer.h"
#include "capra/io/json.h"
#include "capra/targets/ga2/isa/hex_text.h"
#include "capra/targets/ga2/isa/listing.h"
#include "tools/capra/ga2/commands.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

// The lines of `text` as a list.
Json lines_json(std::string_view text) {
  Json lines = Json::array();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Either the text, or its lines as a member of a document.
Result<int> write_text(const Ga2TextOptions& options, const char* key, const std::string& text) {
  if (options.json) {
    Json document = Json::object();
    document.set(key, lines_json(text));
    CAPRA_TRY(print_result(document.text(2) + "\n"));
    if (options.output == "-") return kDone;
  }
  CAPRA_TRY(write_output(options.output, text));
  return kDone;
}

// A program in the other form names the command for that one.
Failure refuse_form(Diagnostic found, bool is_other_form, const char* help) {
  if (is_other_form) found.help = help;
  return fail(std::move(found));
}

}  // namespace

Result<int> run_ga2_asm(const Ga2TextOptions& options) {
  CAPRA_ASSIGN(const std::string text, read_file(options.file));
  Result<std::vector<ga2::Instruction>> program = ga2::parse_listing(text, options.file);
  if (!program.ok()) {
    return refuse_form(program.error(), ga2::parse_hex(text, options.file).ok(),
                       "these are words: use 'capra ga2 disasm'");
  }
  return write_text(options, "words", ga2::hex_text(*program));
}

Result<int> run_ga2_disasm(const Ga2TextOptions& options) {
  CAPRA_ASSIGN(const std::string text, read_file(options.file));
  Result<std::vector<ga2::Instruction>> program = ga2::parse_hex(text, options.file);
  if (!program.ok()) {
    return refuse_form(program.error(), ga2::parse_listing(text, options.file).ok(),
                       "this is a listing: use 'capra ga2 asm'");
  }
  return write_text(options, "listing", ga2::listing_text(*program));
}

}  // namespace capra::driver
