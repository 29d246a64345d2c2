// Golden files: text cases of what the printer, the shape rules, decompositions and passes do. The
// format is described in docs/golden.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capra/base/result.h"

namespace capra::golden {

enum class RunKind : uint8_t { Print, Infer, Decompose, Passes, Emit };

/// What is done with the graph of a case.
struct RunMode {
  RunKind kind = RunKind::Print;
  std::vector<std::string> passes;  ///< of RunKind::Passes, in order
  std::string target;               ///< whose table passes see; empty: none
  bool external = false;            ///< of RunKind::Emit: parameters stand in an archive
  bool chlo = true;                 ///< of RunKind::Emit: erf may be an operation of chlo
  std::vector<std::string> kept;    ///< of RunKind::Emit: ops that stay composites
};

enum class ExpectKind : uint8_t { Text, Same, Error };

struct Expectation {
  ExpectKind kind = ExpectKind::Text;
  std::string code;                ///< of an error
  std::vector<std::string> lines;  ///< the text, or what the error's text must contain
  size_t line = 0;                 ///< number of the line `expect`, from 1
  size_t begin = 0;                ///< positions of `lines` in the file's lines, half open
  size_t end = 0;
};

struct GoldenCase {
  std::string name;
  size_t line = 0;  ///< of `case`, from 1
  RunMode mode;
  std::string graph;  ///< its text, after as many line ends as stand before it in the file
  Expectation expect;
  std::vector<std::pair<std::string, std::string>> data;  ///< input name, array text
  std::vector<std::pair<std::string, int64_t>> bindings;  ///< symbol, extent
  std::optional<double> within;                           ///< max abs difference; none: bit-equal
  std::string finite;                                     ///< why special values are left out
  std::string no_run;                                     ///< why nothing is executed
};

struct GoldenFile {
  std::string path;
  std::vector<std::string> lines;
  std::vector<GoldenCase> cases;
};

/// Fails with `golden-syntax`, `at` the file and line.
Result<GoldenFile> parse_golden(std::string_view text, std::string path);

/// The file's text with the expected lines of one case replaced by `lines`; moves the positions of
/// the cases after it.
void replace_expected(GoldenFile& file, size_t case_index, std::vector<std::string> lines);

/// The file's lines as text.
std::string golden_text(const GoldenFile& file);

/// Lines without their ends.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace capra::golden
