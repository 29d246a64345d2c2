// The two forms of a line.
#include "tools/capra/text_input.h"

#include <utility>

#include "capra/base/number_text.h"
#include "capra/base/text/utf8.h"

namespace capra::driver {
namespace {

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> suffixes) {
  for (const std::string_view suffix : suffixes) {
    if (text.ends_with(suffix)) return true;
  }
  return false;
}

}  // namespace

Result<TextInput> TextInput::open(const TextSource& source, bool strict_utf8) {
  TextInput input;
  input.source_ = source;
  input.strict_utf8_ = strict_utf8;
  if (source.texts.empty() && source.input.empty()) {
    return fail("input-missing", "there is no text to embed", {},
                "give --text T, or --input FILE (- reads standard input)");
  }
  if (source.format.empty()) {
    input.json_lines_ = ends_with_any(source.input, {".jsonl", ".ndjson"});
  } else if (source.format == "jsonl" || source.format == "lines") {
    input.json_lines_ = source.format == "jsonl";
  } else {
    return fail("input-format-unknown", "there is no input format '" + source.format + "'",
                "--input-format", "use lines or jsonl");
  }
  if (!source.input.empty()) {
    CAPRA_ASSIGN(LineReader lines, LineReader::open(source.input, source.option));
    input.lines_.emplace(std::move(lines));
  }
  return input;
}

void TextInput::stop() {
  if (lines_) lines_->stop();
}

double TextInput::progress() const { return lines_ ? lines_->progress() : -1; }

std::string TextInput::place(const InputRow& row, int64_t index) const {
  if (row.line == 0) return "--text " + number_text(index);
  return (source_.input == "-" ? "standard input" : source_.input) + ": line " +
         number_text(row.line);
}

Failure TextInput::at_line(const char* code, std::string message, std::string help) const {
  return fail(code, std::move(message), lines_->place(), std::move(help));
}

Result<std::vector<int32_t>> TextInput::parse_ids(std::string_view text) const {
  std::vector<int32_t> ids;
  size_t at = 0;
  while (true) {
    at = text.find_first_not_of(" ,\t[]", at);
    if (at == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_of(" ,\t[]", at), text.size());
    const std::optional<int64_t> id = parse_i64(text.substr(at, end - at));
    if (!id || *id < 0 || *id > INT32_MAX) {
      return fail("input-token-ids",
                  "'" + std::string(text.substr(at, end - at)) + "' is not a token id", {},
                  "give whole numbers with spaces or commas between them");
    }
    ids.push_back(static_cast<int32_t>(*id));
    at = end;
  }
  return ids;
}

Status TextInput::parse_json(std::string_view line, InputRow& row) const {
  std::string repaired;
  const Status correct = correct_utf8(line, strict_utf8_, repaired, row.replaced);
  if (!correct.ok()) return at_line("utf8-invalid", correct.error().message, correct.error().help);
  Result<Json> parsed = Json::parse(line);
  if (!parsed.ok()) {
    return at_line("input-json", "is not JSON: " + parsed.error().message,
                   "give one JSON object a line, {\"text\": \"...\"}");
  }
  const Json* id = parsed->find("id");
  row.id = id == nullptr ? Json() : *id;
  if (source_.token_ids) {
    const Json* ids = parsed->is_array() ? &*parsed : parsed->find("token_ids");
    if (ids == nullptr || !ids->is_array()) {
      return at_line("input-json", "has no array `token_ids`",
                     "give {\"token_ids\": [101, ...]} or an array");
    }
    row.ids.clear();
    for (const Json& value : ids->items()) {
      const std::optional<int64_t> number = value.as_i64();
      if (!number || *number < 0 || *number > INT32_MAX) {
        return at_line("input-token-ids", value.text() + " is not a token id",
                       "give whole numbers");
      }
      row.ids.push_back(static_cast<int32_t>(*number));
    }
    return {};
  }
  const Json* text = parsed->is_string() ? &*parsed : parsed->find("text");
  if (text == nullptr || text->as_string() == nullptr) {
    return at_line("input-json", "has no string `text`",
                   "give one JSON object a line, {\"text\": \"...\"}");
  }
  row.text = *text->as_string();
  return {};
}

Result<bool> TextInput::next(InputRow& row) {
  row = {};
  std::string line;
  const bool from_arguments = next_text_ < source_.texts.size();
  if (from_arguments) {
    line = source_.texts[next_text_++];
  } else {
    if (!lines_) return false;
    CAPRA_ASSIGN(const bool more, lines_->next(line));
    if (!more) return false;
    row.line = lines_->line();
    // Blank lines between records mean nothing in JSON Lines; as plain text they are a text.
    if (json_lines_) {
      while (line.find_first_not_of(" \t") == std::string::npos) {
        CAPRA_ASSIGN(const bool another, lines_->next(line));
        if (!another) return false;
      }
      row.line = lines_->line();
      row.bytes = line.size();
      CAPRA_TRY(parse_json(line, row));
      return true;
    }
  }
  row.bytes = line.size();
  if (!source_.token_ids) {
    row.text = std::move(line);
    return true;
  }
  Result<std::vector<int32_t>> ids = parse_ids(line);
  if (!ids.ok()) {
    if (from_arguments) return ids.take_failure();
    return at_line("input-token-ids", ids.error().message, ids.error().help);
  }
  row.ids = *std::move(ids);
  return true;
}

}  // namespace capra::driver
