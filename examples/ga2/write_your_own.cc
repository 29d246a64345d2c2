// Write your own graph: `build` is the part to edit. It is compiled, run on the simulated chip and
// compared with real numbers; then its hidden width is swept, and graphs that are refused are shown
// with the messages and what to do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "capra/targets/ga2/program_json.h"
#include "examples/ga2/samples.h"

namespace {

using namespace capra;
using namespace capra::ga2;

struct Sizes {
  int64_t batch = 4;
  int64_t inputs = 16;
  int64_t hidden = 32;
  int64_t classes = 8;
};

Result<NodeIndex> new_weight(Network& g, PythonRandom& random, std::string name, Extents shape) {
  return g.weight(std::move(name),
                  normal_matrix(random, shape, 1 / std::sqrt(static_cast<double>(shape.rows))));
}

// The part to edit: a two-layer network with a residual connection and a softmax head.
Result<Network> build(const Sizes& sizes) {
  PythonRandom random(1);
  Network g;
  CAPRA_ASSIGN(const NodeIndex x, g.input("x", {sizes.batch, sizes.inputs}));
  CAPRA_ASSIGN(const NodeIndex w1, new_weight(g, random, "w1", {sizes.inputs, sizes.hidden}));
  CAPRA_ASSIGN(const NodeIndex first, g.matmul(x, w1));
  CAPRA_ASSIGN(const NodeIndex h, g.relu(first));
  CAPRA_ASSIGN(const NodeIndex w2, new_weight(g, random, "w2", {sizes.hidden, sizes.hidden}));
  CAPRA_ASSIGN(const NodeIndex second, g.matmul(h, w2));
  CAPRA_ASSIGN(const NodeIndex r, g.add(second, h));
  CAPRA_ASSIGN(const NodeIndex w3, new_weight(g, random, "w3", {sizes.hidden, sizes.classes}));
  CAPRA_ASSIGN(const NodeIndex scores, g.matmul(r, w3, false, 0.5));
  CAPRA_ASSIGN(const NodeIndex p, g.softmax(scores));
  CAPRA_ASSIGN([[maybe_unused]] const NodeIndex probs, g.output(p, "probs"));
  CAPRA_ASSIGN(const NodeIndex best, g.argmax(p));
  CAPRA_ASSIGN([[maybe_unused]] const NodeIndex classes, g.output(best, "class"));
  return g;
}

Status default_graph() {
  fmt::print(
      "== 1. the default graph (batch 4, 16 inputs, 32 hidden, 8 classes): compile, run, "
      "compare\n");
  CAPRA_ASSIGN(const Network g, build({}));
  PythonRandom random(9);
  const std::vector<Sample> calibration = normal_samples(g, random, 30);
  const Sample test = normal_sample(g, random);
  CAPRA_ASSIGN(const Program program, compile(g, calibration));
  CAPRA_ASSIGN(const Run ran, run(program, test));
  fmt::print("  {} instructions, scratchpad high-water {} words, {} cycles on GA-2 (model)\n",
             program.instructions.size(), program.scratchpad_high, ran.counters.total);
  fmt::print(
      "  class (compiled): {}  class (floating point): {}  probabilities relative error {:.2f}%\n",
      column_text(ran.outputs.at("class").integers), column_text(real_output(g, test, "class")),
      100 * relative_error(program, ran, test));
  return {};
}

// The first sample whose class differs, and how near its two best classes are; empty: none differs.
std::string flipped_class(const Network& g, const Run& ran, const Sample& test, int64_t hidden) {
  const Matrix<double> real = real_output(g, test, "class");
  const Matrix<int32_t>& found = ran.outputs.at("class").integers;
  for (int64_t i = 0; i < real.rows; ++i) {
    if (static_cast<double>(found.at(i, 0)) == real.at(i, 0)) continue;
    const Matrix<double> probabilities = real_output(g, test, "probs");
    const auto row = probabilities.row(i);
    std::vector<double> sorted(row.begin(), row.end());
    std::ranges::sort(sorted, std::greater());
    return fmt::format(
        "hidden {}: sample {} gets class {} instead of {:.0f}; the two largest floating-point "
        "probabilities are {:.3f} and {:.3f}, a gap of {:.3f}",
        hidden, i, found.at(i, 0), real.at(i, 0), sorted[0], sorted[1], sorted[0] - sorted[1]);
  }
  return {};
}

// One line of the sweep; what there is to say of a class that flipped is added to `notes`.
Status sweep_line(int64_t hidden, std::vector<std::string>& notes) {
  CAPRA_ASSIGN(const Network g, build({.hidden = hidden}));
  PythonRandom random(hidden);
  const std::vector<Sample> calibration = normal_samples(g, random, 30);
  const Sample test = normal_sample(g, random);
  const Result<Program> program = compile(g, calibration);
  if (!program.ok()) {
    fmt::print("  {:6}  does not compile: {}\n", hidden, program.error().message);
    return {};
  }
  const Result<Program> kept = compile(g, calibration, {.reuse = false});
  CAPRA_ASSIGN(const Run ran, run(*program, test));
  std::string note = flipped_class(g, ran, test, hidden);
  fmt::print("  {:6}  {:5}  {:12} / {:>6}        {:6}   {:9.2f}%      {}\n", hidden,
             program->instructions.size(), program->scratchpad_high,
             kept.ok() ? fmt::format("{}", kept->scratchpad_high) : "full", ran.counters.total,
             100 * relative_error(*program, ran, test),
             note.empty() ? "all agree" : "DIFFER (see below)");
  if (!note.empty()) notes.push_back(std::move(note));
  return {};
}

Status sweep() {
  fmt::print(
      "\n== 2. sweep the hidden width: footprint, cycles and accuracy (reference simulator + cycle "
      "model; the K <= 64 limit shows at 64 and above)\n"
      "  hidden  instr  spad words (reuse / no reuse)  cycles   error vs float   class "
      "agreement\n");
  std::vector<std::string> notes;
  for (const int64_t hidden : {8, 16, 32, 48, 64}) CAPRA_TRY(sweep_line(hidden, notes));
  for (const std::string& note : notes) fmt::print("  note: {}\n", note);
  if (!notes.empty()) {
    fmt::print(
        "  (a class flips only where two probabilities are nearly tied: a 2% error in the "
        "probabilities can reorder a 0.001 gap. The probabilities themselves stay within about "
        "2-3% "
        "in every row.)\n");
  }
  return {};
}

Matrix<double> filled(Extents shape, double value) {
  Matrix<double> matrix(shape.rows, shape.columns);
  std::ranges::fill(matrix.values, value);
  return matrix;
}

// An input times a weight.
Result<Program> product(Extents x, Extents w, double weight) {
  Network g;
  CAPRA_ASSIGN(const NodeIndex a, g.input("x", x));
  CAPRA_ASSIGN(const NodeIndex b, g.weight("w", filled(w, weight)));
  CAPRA_ASSIGN(const NodeIndex y, g.matmul(a, b));
  CAPRA_ASSIGN([[maybe_unused]] const NodeIndex output, g.output(y, "y"));
  return compile(g, std::vector<Sample>{{{"x", filled(x, 0.5)}}});
}

Result<Program> relu_after_add() {
  Network g;
  CAPRA_ASSIGN(const NodeIndex x, g.input("x", {2, 4}));
  CAPRA_ASSIGN(const NodeIndex sum, g.add(x, x));
  CAPRA_ASSIGN(const NodeIndex y, g.relu(sum));
  CAPRA_ASSIGN([[maybe_unused]] const NodeIndex output, g.output(y, "y"));
  return compile(g, std::vector<Sample>{{{"x", filled({2, 4}, 0.5)}}});
}

void refusal(const char* title, const char* fix, const Result<Program>& program) {
  if (program.ok()) {
    fmt::print("  {}: compiled (unexpected)\n", title);
  } else {
    fmt::print("  {}\n      message: {}\n      fix: {}\n", title, program.error().message, fix);
  }
}

Status refusals() {
  fmt::print("\n== 3. what Capra refuses, with the exact message and the fix\n");
  refusal("a product with inner dimension 65",
          "split the contraction into pieces of at most 64 (the hardware has no int32 accumulate "
          "instruction), or reduce the width",
          product({2, 65}, {65, 4}, 0.1));
  refusal("a relu that is not directly after a matmul",
          "put the relu directly after a matmul that has no other consumer (the compiler fuses it "
          "into the requantizer)",
          relu_after_add());
  refusal("matrix shapes that do not match",
          "check the shapes; transpose_b=True multiplies by the transpose of the second operand",
          product({2, 3}, {4, 4}, 0.1));
  refusal(
      "tensors too big for the 4,096-word scratchpad (a 64 x 64 weight is the whole of it)",
      "use smaller tensors or fewer live at once (the allocator already reuses dead buffers); a "
      "bigger model must be split into pieces that fit",
      product({8, 64}, {64, 64}, 0.01));
  return {};
}

}  // namespace

int main() {
  for (Status (*section)() : {default_graph, sweep, refusals}) {
    const Status status = section();
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", to_text(status.error()).c_str());
    return 2;
  }
  return 0;
}
