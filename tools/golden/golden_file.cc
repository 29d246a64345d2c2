// Reading golden files line by line.
#include "tools/golden/golden_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "capra/base/number_text.h"

namespace capra::golden {
namespace {

// `word` and what follows it, without blanks around.
std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  const size_t end = text.find(' ');
  if (end == std::string_view::npos) return {text, {}};
  const size_t rest = text.find_first_not_of(' ', end);
  std::string_view tail = rest == std::string_view::npos ? "" : text.substr(rest);
  while (tail.ends_with(' ')) tail.remove_suffix(1);
  return {text.substr(0, end), tail};
}

class Parser {
 public:
  explicit Parser(GoldenFile& file) : file_(file) {}

  Status parse() {
    while (next_ < file_.lines.size()) {
      const std::string& line = file_.lines[next_];
      if (line.empty() || line[0] == '#') {
        ++next_;
      } else if (line.starts_with("graph ")) {
        CAPRA_TRY(read_graph());
      } else {
        CAPRA_TRY(read_directive(line));
      }
    }
    CAPRA_TRY(close_case());
    if (file_.cases.empty()) return failure("the file has no case");
    return {};
  }

 private:
  Failure failure(std::string message) const {
    return fail("golden-syntax", std::move(message),
                fmt::format("{}:{}", file_.path, std::min(next_, file_.lines.size() - 1) + 1));
  }

  GoldenCase* current() { return file_.cases.empty() ? nullptr : &file_.cases.back(); }

  Status close_case() {
    const GoldenCase* last = current();
    if (last == nullptr) return {};
    if (last->graph.empty()) return failure("case " + last->name + " has no graph");
    if (last->expect.line == 0) return failure("case " + last->name + " expects nothing");
    return {};
  }

  Status read_directive(const std::string& line) {
    const auto [word, rest] = first_word(line);
    if (word == "case") return open_case(rest);
    if (word == "run" || word == "target") {
      GoldenCase* open = current();
      RunMode& mode = open == nullptr ? default_mode_ : open->mode;
      ++next_;
      if (word == "run") return read_run(rest, mode);
      mode.target = rest;
      return {};
    }
    if (current() == nullptr) {
      return failure(fmt::format("'{}' stands before the first case", word));
    }
    if (word == "expect") return read_expect(rest);
    const Status status = read_condition(word, rest, *current());
    ++next_;
    return status.ok() ? Status() : Status(fail(status.error()));
  }

  Status open_case(std::string_view name) {
    CAPRA_TRY(close_case());
    if (name.empty()) return failure("a case needs a name");
    for (const GoldenCase& other : file_.cases) {
      if (other.name == name) return failure(fmt::format("two cases are called {}", name));
    }
    GoldenCase opened;
    opened.name = name;
    opened.line = next_ + 1;
    opened.mode = default_mode_;
    file_.cases.push_back(std::move(opened));
    ++next_;
    return {};
  }

  Status read_run(std::string_view text, RunMode& mode) {
    const auto [word, rest] = first_word(text);
    std::string target = std::move(mode.target);
    mode = RunMode();
    mode.target = std::move(target);
    if (word == "print") return {};
    if (word == "infer") {
      mode.kind = RunKind::Infer;
      return {};
    }
    if (word == "decompose") {
      mode.kind = RunKind::Decompose;
      return {};
    }
    if (word == "emit") return read_emit(rest, mode);
    if (word != "passes" || rest.empty()) {
      --next_;
      return failure("run takes print, infer, decompose, emit, or passes and their names");
    }
    mode.kind = RunKind::Passes;
    mode.passes = read_names(rest);
    return {};
  }

  // `external`, `no-chlo` and, at the end, `keep A, B`; each may be left out.
  Status read_emit(std::string_view text, RunMode& mode) {
    mode.kind = RunKind::Emit;
    while (!text.empty()) {
      const auto [word, rest] = first_word(text);
      text = rest;
      if (word == "external") {
        mode.external = true;
      } else if (word == "no-chlo") {
        mode.chlo = false;
      } else if (word == "keep" && !rest.empty()) {
        mode.kept = read_names(rest);
        text = {};
      } else {
        --next_;
        return failure("emit takes external, no-chlo, and keep with names of ops");
      }
    }
    return {};
  }

  static std::vector<std::string> read_names(std::string_view names) {
    std::vector<std::string> read;
    while (!names.empty()) {
      const size_t comma = std::min(names.find(','), names.size());
      read.emplace_back(first_word(names.substr(0, comma)).first);
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return read;
  }

  Status read_condition(std::string_view word, std::string_view rest, GoldenCase& open) {
    const auto [name, value] = first_word(rest);
    if (word == "within") {
      open.within = parse_f64(rest);
      if (open.within.has_value() && *open.within > 0) return {};
      return failure("within takes a number above 0");
    }
    if (word == "data" && !value.empty()) {
      open.data.emplace_back(name, value);
      return {};
    }
    if (word == "bind") {
      const auto extent = parse_i64(value);
      if (!extent.has_value() || *extent < 0) return failure("bind takes a symbol and an extent");
      open.bindings.emplace_back(name, *extent);
      return {};
    }
    if ((word == "finite" || word == "no-run") && !rest.empty()) {
      (word == "finite" ? open.finite : open.no_run) = rest;
      return {};
    }
    return failure(
        fmt::format("'{}' is no directive, or lacks what it needs: there are run, target, "
                    "case, data, bind, within, finite, no-run, graph and expect",
                    word));
  }

  // From `graph` to the line `}`.
  Status read_graph() {
    GoldenCase* open = current();
    if (open == nullptr) return failure("a graph stands before the first case");
    if (!open->graph.empty()) return failure("case " + open->name + " has two graphs");
    open->graph = std::string(next_, '\n');
    while (true) {
      if (next_ == file_.lines.size()) return failure("the graph has no closing '}'");
      const std::string& line = file_.lines[next_++];
      open->graph += line + "\n";
      if (line == "}") return {};
    }
  }

  Status read_expect(std::string_view text) {
    GoldenCase& open = *current();
    Expectation& expect = open.expect;
    if (expect.line != 0) return failure("case " + open.name + " has two expectations");
    if (open.graph.empty()) return failure("case " + open.name + " expects before its graph");
    const auto [word, rest] = first_word(text);
    expect.line = ++next_;
    if (word == "same" && rest.empty()) {
      expect.kind = ExpectKind::Same;
    } else if (word == "error" && !rest.empty()) {
      expect.kind = ExpectKind::Error;
      expect.code = rest;
    } else if (!word.empty()) {
      --next_;
      return failure("expect takes nothing, same, or error and a code");
    }
    expect.begin = next_;
    if (expect.kind != ExpectKind::Same) read_expected_lines(expect);
    expect.end = next_;
    return {};
  }

  // A graph ends with its brace, everything else with an empty line.
  void read_expected_lines(Expectation& expect) {
    const bool graph = next_ < file_.lines.size() && file_.lines[next_].starts_with("graph ");
    while (next_ < file_.lines.size()) {
      const std::string& line = file_.lines[next_];
      if (line.empty() && !graph) return;
      expect.lines.push_back(line);
      ++next_;
      if (graph && line == "}") return;
    }
  }

  GoldenFile& file_;
  size_t next_ = 0;
  RunMode default_mode_;
};

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Result<GoldenFile> parse_golden(std::string_view text, std::string path) {
  GoldenFile file;
  file.path = std::move(path);
  file.lines = split_lines(text);
  if (file.lines.empty()) return fail("golden-syntax", "the file is empty", file.path);
  CAPRA_TRY(Parser(file).parse());
  return file;
}

void replace_expected(GoldenFile& file, size_t case_index, std::vector<std::string> lines) {
  Expectation& expect = file.cases[case_index].expect;
  const auto begin = static_cast<ptrdiff_t>(expect.begin);
  const auto end = static_cast<ptrdiff_t>(expect.end);
  const auto moved = static_cast<ptrdiff_t>(lines.size()) - (end - begin);
  file.lines.erase(file.lines.begin() + begin, file.lines.begin() + end);
  file.lines.insert(file.lines.begin() + begin, lines.begin(), lines.end());
  expect.kind = ExpectKind::Text;
  file.lines[expect.line - 1] = "expect";
  expect.end = expect.begin + lines.size();
  expect.lines = std::move(lines);
  for (size_t i = case_index + 1; i < file.cases.size(); ++i) {
    Expectation& later = file.cases[i].expect;
    for (size_t* position : {&later.line, &later.begin, &later.end, &file.cases[i].line}) {
      *position = static_cast<size_t>(static_cast<ptrdiff_t>(*position) + moved);
    }
  }
}

std::string golden_text(const GoldenFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  return text;
}

}  // namespace capra::golden
