// One function a pass.
#include "capra/targets/ga2/explain/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/explain/values.h"
#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/program_json.h"
#include "capra/targets/ga2/sim/run.h"
#include "capra/targets/ga2/tile/tiles.h"

namespace capra::ga2 {
namespace {

Chapter graph_chapter(const Network& network) {
  Chapter chapter{"PASS 0: the graph (what the user writes)", {}};
  for (NodeIndex i = 0; i < network.size(); ++i) {
    const NetworkNode& node = network.node(i);
    std::vector<std::string> operands;
    operands.reserve(node.operands.size());
    for (const NodeIndex operand : node.operands) operands.push_back(fmt::format("%{}", operand));
    std::string line = fmt::format("  %{:<2} = {:8} {:8} -> {}  {}", i, node_op_name(node.op),
                                   fmt::format("{}", fmt::join(operands, ", ")),
                                   extents_text(node.shape), node.name);
    if (node.transpose_b) line += " ^T";
    if (node.op == NodeOp::Matmul && node.factor != 1) {
      line += fmt::format(" x{:.4f}", node.factor);
    }
    chapter.lines.push_back(std::move(line));
  }
  return chapter;
}

Chapter ranges_chapter(const Program& program, size_t samples) {
  Chapter chapter{fmt::format("PASS 1: calibration: run the graph in floating point on {} sample "
                              "sets; each tensor's range is the largest |value| seen",
                              samples),
                  {}};
  for (NodeIndex i = 0; i < program.network.size(); ++i) {
    chapter.lines.push_back(fmt::format("  %{:<2} {:8} range {:8.4f}", i,
                                        node_op_name(program.network.node(i).op),
                                        program.plan.ranges[static_cast<size_t>(i)]));
  }
  return chapter;
}

// Why the scale of a node is not its own range / 127; empty where it is.
std::string scale_reason(const Network& network, NodeIndex index,
                         const std::vector<NodeIndex>& users) {
  const NetworkNode& node = network.node(index);
  const auto feeds = [&](NodeOp op) {
    return std::ranges::any_of(users, [&](NodeIndex user) { return network.node(user).op == op; });
  };
  if (feeds(NodeOp::Softmax)) return "pinned: softmax input must be Q4.4 (1/16)";
  if (node.op == NodeOp::Softmax) return "pinned: softmax output is a probability, 1/127";
  if (feeds(NodeOp::Concat)) return "shares a scale with its concat result (same buffer)";
  if (feeds(NodeOp::Relu)) return "shares a scale with its relu (same buffer)";
  if (node.op == NodeOp::Slice) return "shares a scale with what it is cut from (same buffer)";
  if (node.op == NodeOp::Weight && node.bits == 4) return "4 bits: range / 7";
  return {};
}

Chapter scales_chapter(const Program& program) {
  Chapter chapter{
      "PASS 2: scale planning: one int8 scale per tensor (range / 127), with groups and pinned "
      "scales",
      {}};
  const auto users = program.network.users();
  for (NodeIndex i = 0; i < program.network.size(); ++i) {
    const NodeOp op = program.network.node(i).op;
    if (op == NodeOp::Argmax) continue;
    const std::string reason = scale_reason(program.network, i, users[static_cast<size_t>(i)]);
    chapter.lines.push_back(fmt::format("  %{:<2} {:8} scale {:.6f}  (range/127 = {:.6f}){}{}", i,
                                        node_op_name(op), program.scale(i),
                                        program.plan.ranges[static_cast<size_t>(i)] / kMostLevel,
                                        reason.empty() ? "" : "  <- ", reason));
  }
  for (const std::string& note : program.plan.notes) chapter.lines.push_back("  note: " + note);
  return chapter;
}

Chapter requantizers_chapter(const Program& program) {
  Chapter chapter{
      "PASS 3: requantizer parameters: M = factor x scale_a x scale_b / scale_out, written as "
      "mantissa / 2^shift (Chapter 3)",
      {}};
  for (const Requantizer& one : program.requantizers) {
    const std::string which =
        one.operand ? fmt::format("({}, {})", one.node, *one.operand) : number_text(one.node);
    chapter.lines.push_back(fmt::format(
        "  node {}: M ~ {} / 2^{} = {:.8f}", which, one.factor.mantissa, one.factor.shift,
        std::ldexp(one.factor.mantissa, -static_cast<int>(one.factor.shift))));
  }
  return chapter;
}

Chapter tiles_chapter(const Network& network) {
  Chapter chapter{
      "PASS 4: tiling: each matmul is cut into 4x4 output tiles, one MM instruction each", {}};
  for (NodeIndex i = 0; i < network.size(); ++i) {
    const NetworkNode& node = network.node(i);
    if (node.op != NodeOp::Matmul) continue;
    const int64_t m = node.shape.rows;
    const int64_t n = node.shape.columns;
    const int64_t k = network.node(node.operands[0]).shape.columns;
    const std::vector<Tile> tiles = tiles_of(m, n);
    std::vector<std::string> parts;
    parts.reserve(tiles.size());
    for (const Tile& tile : tiles) {
      parts.push_back(fmt::format("[rows {}-{}, cols {}-{}]", tile.row, tile.row + tile.rows - 1,
                                  tile.column, tile.column + tile.columns - 1));
    }
    chapter.lines.push_back(fmt::format(
        "  %{}: ({} x {}) x ({} x {}) -> {} x {} = {} tile(s): {}", i, m, k, k, n,
        (m + kTile - 1) / kTile, (n + kTile - 1) / kTile, tiles.size(), fmt::join(parts, ", ")));
  }
  return chapter;
}

// That the parts of concatenations are views; empty where there is no concatenation.
std::string views_note(const Network& network) {
  std::vector<std::string> pairs;
  bool rows_are_appended = true;
  for (const NetworkNode& node : network.nodes()) {
    if (node.op != NodeOp::Concat) continue;
    pairs.push_back(fmt::format("{} and {}", node_label(network, node.operands[0]),
                                node_label(network, node.operands[1])));
    rows_are_appended &= network.node(node.operands[1]).shape.rows == 1;
  }
  if (pairs.empty()) return {};
  std::string text =
      fmt::format("  note: {} are VIEWS of one buffer (the concat result)", pairs[0]);
  pairs.erase(pairs.begin());
  if (!pairs.empty()) text += fmt::format(", as are {}", fmt::join(pairs, ", "));
  text += rows_are_appended ? ": the cache plus the new row is assembled in place"
                            : ": what they hold is assembled in place";
  return text + ", so the concatenation costs no instruction.";
}

Chapter allocation_chapter(const Program& program, const Result<Program>& without_reuse) {
  Chapter chapter{
      "PASS 5: allocation: scratchpad words over time, recorded from the allocator itself, "
      "numbered "
      "in the order the events happen",
      {"  events in order (the allocator is first-fit with coalescing; a buffer is released after "
       "its last consumer):"}};
  for (size_t k = 0; k < program.events.size(); ++k) {
    const AllocationEvent& one = program.events[k];
    chapter.lines.push_back(
        one.is_release ? fmt::format("   {:2}: free  {:4} words at {:4}", k, one.words, one.address)
                       : fmt::format("   {:2}: alloc {:4} words at {:4} .. {:4}", k, one.words,
                                     one.address, one.address + one.words - 1));
  }
  chapter.lines.push_back(
      fmt::format("  scratchpad high-water mark with reuse: {} words; without reuse: {} (of {})",
                  program.scratchpad_high,
                  without_reuse.ok() ? fmt::format("{} words", without_reuse->scratchpad_high)
                                     : without_reuse.error().message,
                  kScratchpadWords));
  std::string note = views_note(program.network);
  if (!note.empty()) chapter.lines.push_back(std::move(note));
  return chapter;
}

Chapter program_chapter(const Program& program) {
  Chapter chapter{"PASS 6: emission: the program", {}};
  for (size_t k = 0; k < program.instructions.size(); ++k) {
    chapter.lines.push_back(
        fmt::format("  {:3}  {}", k, instruction_text(program.instructions[k])));
  }
  chapter.lines.emplace_back();
  chapter.lines.push_back(
      fmt::format("{} instructions (including HALT); cycles on GA-2 (model): {}",
                  program.instructions.size(), cost(program.instructions).total));
  return chapter;
}

// `[0.244, 0.21]`: at most three decimals.
std::string row_text(std::span<const double> row) {
  std::vector<std::string> parts;
  parts.reserve(row.size());
  for (const double value : row) {
    const double rounded = *parse_f64(fmt::format("{:.3f}", value));
    std::string text = number_text(rounded);
    if (std::isfinite(rounded) && text.find_first_of(".eE") == std::string::npos) text += ".0";
    parts.push_back(std::move(text));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

void add_outputs(Chapter& chapter, const Program& program, const Run& ran, const Sample& test) {
  const std::vector<Matrix<double>> real = evaluate(program.network, test);
  const bool is_one_row =
      std::ranges::count(program.network.nodes(), NodeOp::Output, &NetworkNode::op) == 1 &&
      ran.outputs.begin()->second.values.rows == 1;
  for (const ExternalRegion& region : program.external) {
    if (program.network.node(region.node).op != NodeOp::Output) continue;
    const Matrix<double>& values = ran.outputs.at(region.name).values;
    for (int64_t row = 0; row < values.rows; ++row) {
      const std::string which =
          is_one_row ? "output (float)" : fmt::format("{}, row {} (float)", region.name, row);
      chapter.lines.push_back(fmt::format("  {}: {}", which, row_text(values.row(row))));
      chapter.lines.push_back(
          fmt::format("  {:{}}: {}", "reference", which.size() - 1,
                      row_text(real[static_cast<size_t>(region.node)].row(row))));
    }
  }
}

Result<Chapter> checks_chapter(const Program& program, const Sample& test) {
  Chapter chapter{
      "checks: the compiled program against the integer interpreter, and against floating point",
      {}};
  CAPRA_ASSIGN(const Run ran, run(program, test));
  const std::vector<Matrix<int32_t>> integers = interpret(program, test);
  const bool equal = std::ranges::all_of(program.external, [&](const ExternalRegion& region) {
    return program.network.node(region.node).op != NodeOp::Output ||
           ran.outputs.at(region.name).integers == integers[static_cast<size_t>(region.node)];
  });
  chapter.lines.push_back(
      fmt::format("  simulator output equals the interpreter's integers: {};  relative error "
                  "against floating point: {:.2f}%",
                  equal ? "True" : "False", 100 * relative_error(program, ran, test)));
  const std::vector<std::string> problems = stage_problems(program, integers);
  chapter.lines.push_back(
      fmt::format("  stage-wise real-number check (every tensor within one level of the meaning of "
                  "its operation): {}",
                  problems.empty() ? "no problems" : fmt::format("{}", fmt::join(problems, "; "))));
  add_outputs(chapter, program, ran, test);
  return chapter;
}

}  // namespace

Result<std::vector<Chapter>> walk(const CompileRequest& request, const Program& program,
                                  const Result<Program>& without_reuse) {
  std::vector<Chapter> chapters = {
      graph_chapter(program.network), ranges_chapter(program, request.calibration.size()),
      scales_chapter(program),        requantizers_chapter(program),
      tiles_chapter(program.network), allocation_chapter(program, without_reuse),
      program_chapter(program),
  };
  if (request.test) {
    CAPRA_ASSIGN(Chapter checks, checks_chapter(program, *request.test));
    chapters.push_back(std::move(checks));
  }
  return chapters;
}

}  // namespace capra::ga2
