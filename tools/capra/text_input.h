// Reading texts or token ids as a stream: arguments, lines, or JSON Lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capra/base/result.h"
#include "capra/io/json.h"
#include "tools/capra/command.h"
#include "tools/capra/line_reader.h"

namespace capra::driver {

/// One row of input.
struct InputRow {
  std::string text;
  std::vector<int32_t> ids;  ///< with token_ids, instead of the text
  Json id;                   ///< what the row calls itself; null: nothing
  int64_t line = 0;          ///< of the file, from 1; 0: from --text
  size_t bytes = 0;          ///< of the line as it was given
  int64_t replaced = 0;  ///< invalid UTF-8 sequences of a JSON line, replaced before it was read
};

/// Gives rows one by one, holding no more than a buffer and a line.
class TextInput {
 public:
  /// Fails with `input-missing` (neither texts nor a file), `input-format-unknown`,
  /// `file-not-found`, `file-unreadable`.
  static Result<TextInput> open(const TextSource& source, bool strict_utf8);

  /// The next row; false at the end. Fails with `input-json`, `input-token-ids`, `utf8-invalid`
  /// (JSON Lines; plain texts are the tokenizer's to check) or `input-line-too-long` and the line's
  /// number.
  Result<bool> next(InputRow& row);

  /// Where a row came from, for messages: `texts.txt: line 3`, or `--text 1`.
  std::string place(const InputRow& row, int64_t index) const;

  /// From another thread: ends a read that waits, and all that follow.
  void stop();
  /// Share of the input that was read, or a negative number when its size is not known. From any
  /// thread.
  double progress() const;

 private:
  Status parse_json(std::string_view line, InputRow& row) const;
  Result<std::vector<int32_t>> parse_ids(std::string_view text) const;
  Failure at_line(const char* code, std::string message, std::string help) const;

  TextSource source_;
  bool strict_utf8_ = false;
  bool json_lines_ = false;
  size_t next_text_ = 0;
  std::optional<LineReader> lines_;
};

}  // namespace capra::driver
