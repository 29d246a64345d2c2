// Reading problem lines and filling graphs in.
#include "bench/problems/problem.h"

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "capra/base/diagnostic.h"
#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"

namespace capra::bench {
namespace {

std::string read_file(const std::string& path) {
  const std::ifstream file(path);
  if (!file) throw Error({"file-not-found", "there is no such file", path});
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, mark);) parts.push_back(part);
  return parts;
}

[[noreturn]] void wrong(const std::string& message, const std::string& at) {
  throw Error({"text-syntax", message, at});
}

int64_t value_of(const ProblemLine& line, const std::string& name) {
  for (const auto& [known, value] : line.values) {
    if (known != name) continue;
    const std::optional<int64_t> number = parse_i64(value);
    if (!number || *number < 0) wrong("'" + value + "' is not a size", line.name());
    return *number;
  }
  wrong("there is no value for '" + name + "'", line.name());
}

// `3*heads*head_dim`: factors are numbers or names.
int64_t product_of(const ProblemLine& line, const std::string& text) {
  int64_t product = 1;
  for (const std::string& factor : split(text, '*')) {
    const std::optional<int64_t> number = parse_i64(factor);
    product *= number ? *number : value_of(line, factor);
  }
  return product;
}

std::string fill_in(const ProblemLine& line, const std::string& text) {
  std::string filled;
  size_t at = 0;
  for (size_t mark = 0; (mark = text.find("${", at)) != std::string::npos;) {
    const size_t end = text.find('}', mark);
    if (end == std::string::npos) wrong("'${' is not closed", line.graph + ".tir");
    filled += text.substr(at, mark - at);
    filled += number_text(product_of(line, text.substr(mark + 2, end - mark - 2)));
    at = end + 1;
  }
  return filled + text.substr(at);
}

// Numbers in [-1, 1), the same ones on every machine.
class Numbers {
 public:
  float next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<int32_t>(state_)) * 0x1p-31F;
  }

 private:
  uint32_t state_ = 1;
};

Array floats(const std::vector<int64_t>& sizes, Numbers& numbers, float scale) {
  Array array = Array::zeros(DType::F32, sizes);
  for (float& value : array.mutable_as<float>()) value = numbers.next() * scale;
  return array;
}

// Sequences of equal length.
Array even_offsets(const ProblemLine& line) {
  const int64_t sequences = value_of(line, "sequences");
  const int64_t length = value_of(line, "length");
  Array offsets = Array::zeros(DType::I32, {sequences + 1});
  for (int64_t i = 0; i <= sequences; ++i) offsets.set_i64(i, i * length);
  return offsets;
}

// Rows of a table, in no order.
Array row_numbers(const std::vector<int64_t>& sizes) {
  constexpr int64_t kRows = 500;  // fewer than any table of a problem has
  Array rows = Array::zeros(DType::I32, sizes);
  for (int64_t i = 0; i < rows.elements(); ++i) rows.set_i64(i, i * 7919 % kRows);
  return rows;
}

}  // namespace

std::string ProblemLine::name() const {
  std::string text = graph;
  for (const auto& [name, value] : values) text += "/" + name + "=" + value;
  return text;
}

std::vector<ProblemLine> read_problem_lines(const std::string& folder) {
  const std::string path = folder + "/problems.txt";
  std::istringstream text(read_file(path));
  std::vector<ProblemLine> lines;
  int64_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::istringstream words(line);
    ProblemLine problem;
    if (!(words >> problem.graph) || problem.graph.starts_with('#')) continue;
    const std::string at = path + ":" + number_text(number);
    std::vector<ProblemLine> spread = {problem};
    std::optional<double> error;
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) wrong("'" + word + "' is not name=value", at);
      const std::string name = word.substr(0, equals);
      if (name == "error") {
        error = parse_f64(word.substr(equals + 1));
        continue;
      }
      std::vector<ProblemLine> wider;
      for (const ProblemLine& one : spread) {
        for (const std::string& value : split(word.substr(equals + 1), ',')) {
          wider.push_back(one);
          wider.back().values.emplace_back(name, value);
        }
      }
      spread = std::move(wider);
    }
    if (!error) wrong("there is no error=...", at);
    for (ProblemLine& one : spread) {
      one.error = *error;
      lines.push_back(std::move(one));
    }
  }
  return lines;
}

Problem make_problem(const std::string& folder, const ProblemLine& line) {
  Problem problem;
  problem.name = line.name();
  problem.error = line.error;
  const std::string path = folder + "/" + line.graph + ".tir";
  problem.graph = parse_graph(fill_in(line, read_file(path)), all_ops(), path).value_or_throw();
  Numbers numbers;
  for (const NodeId id : problem.graph.inputs()) {
    const Node& node = problem.graph.node(id);
    if (node.attrs_as<InputAttrs>().name == "offsets") {
      problem.inputs.push_back(even_offsets(line));
    } else if (node.type.dtype == DType::I32) {
      problem.inputs.push_back(row_numbers(node.type.shape.sizes()));
    } else {
      problem.inputs.push_back(floats(node.type.shape.sizes(), numbers, 1.0F));
    }
  }
  for (const NodeId id : problem.graph.parameters()) {
    const Node& node = problem.graph.node(id);
    const std::vector<int64_t> sizes = node.type.shape.sizes();
    // A product of `in` terms is then a few units large, as in a network.
    const float scale = sizes.size() == 2 ? 3.0F / std::sqrt(static_cast<float>(sizes[1])) : 1.0F;
    problem.parameters.emplace(node.attrs_as<ParameterAttrs>().path, floats(sizes, numbers, scale));
  }
  return problem;
}

}  // namespace capra::bench
