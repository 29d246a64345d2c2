// Sizes are in pixels; each picture grows with what it shows.
#include "capra/targets/ga2/explain/drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "capra/targets/ga2/explain/svg.h"
#include "capra/targets/ga2/explain/values.h"
#include "capra/targets/ga2/tile/tiles.h"

namespace capra::ga2 {
namespace {

constexpr double kTop = 64;
constexpr double kLeft = 56;
constexpr double kMargin = 24;
constexpr double kLine = 14;  // what one line of text needs

struct KindStyle {
  std::string_view style;
  std::string_view meaning;
};

KindStyle kind_style(ValueKind kind) {
  switch (kind) {
    case ValueKind::Loaded:
      return {"loaded", "input or weight"};
    case ValueKind::Sums:
      return {"sums", "sums of a product"};
    case ValueKind::Fractions:
      return {"fractions", "fractions of a softmax"};
    case ValueKind::Rescaled:
      return {"rescaled", "operand at the sum's scale"};
    case ValueKind::Result:
      return {"result", "tensor"};
  }
  CAPRA_CHECK(false);
}

// Words inside a box, along it or upwards, where they fit.
void label(Svg& svg, const Box& box, const std::string& words) {
  const double width = text_width(words) + 4;
  if (width <= box.width && box.height >= kLine - 2) {
    svg.text(box.x + box.width / 2, box.y + box.height / 2 + 4, words, "ink", Anchor::Middle);
  } else if (width <= box.height && box.width >= kLine - 2) {
    svg.upright_text(box.x + box.width / 2 + 4, box.y + box.height / 2, words);
  }
}

void kinds_legend(Svg& svg, const std::vector<KeptValue>& values) {
  double x = kLeft;
  for (const ValueKind kind : {ValueKind::Loaded, ValueKind::Sums, ValueKind::Fractions,
                               ValueKind::Rescaled, ValueKind::Result}) {
    if (std::ranges::find(values, kind, &KeptValue::kind) == values.end()) continue;
    const auto [style, meaning] = kind_style(kind);
    svg.rectangle({x, 38, 12, 12}, style);
    svg.text(x + 17, 48, meaning);
    x += 36 + text_width(meaning);
  }
}

// A round number so that at most ten steps reach `end`.
int64_t round_step(int64_t end) {
  int64_t step = 1;
  for (int64_t i = 0; step * 10 < end; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

}  // namespace

std::string memory_map_svg(const Program& program) {
  const std::vector<KeptValue> values = kept_values(program);
  const auto instructions = static_cast<int64_t>(program.instructions.size());
  const int64_t high = std::max<int64_t>(program.scratchpad_high, 1);
  int64_t smallest = high;
  for (const KeptValue& one : values) smallest = std::min(smallest, one.words);
  // A step is wide enough for most names, and the smallest box high enough for its own.
  const double step = std::clamp(1200.0 / static_cast<double>(instructions), 12.0, 56.0);
  const double height =
      std::clamp(kLine * static_cast<double>(high) / static_cast<double>(smallest), 360.0, 900.0);
  const double word = height / static_cast<double>(high);
  const double width = step * static_cast<double>(instructions);
  const double bottom = kTop + height;

  Svg svg;
  kinds_legend(svg, values);
  const int64_t address_step = round_step(high);
  for (int64_t address = 0; address <= high; address += address_step) {
    const double y = bottom - word * static_cast<double>(address);
    svg.line(kLeft, y, kLeft + width, y, "grid");
    svg.text(kLeft - 6, y + 4, fmt::format("{}", address), "faint", Anchor::End);
  }
  const int64_t time_step = round_step(instructions * 2);
  for (int64_t at = 0; at < instructions; at += time_step) {
    const double x = kLeft + step * (static_cast<double>(at) + 0.5);
    svg.text(x, bottom + 16, fmt::format("{}", at), "faint", Anchor::Middle);
  }
  for (const KeptValue& one : values) {
    const Box box{kLeft + step * static_cast<double>(one.first),
                  bottom - word * static_cast<double>(one.address + one.words),
                  step * static_cast<double>(one.last + 1 - one.first),
                  word * static_cast<double>(one.words)};
    svg.rectangle(box, kind_style(one.kind).style,
                  fmt::format("{}: words {} to {}, instructions {} to {}", one.name, one.address,
                              one.address + one.words - 1, one.first, one.last));
    label(svg, box, one.name);
  }
  svg.line(kLeft, kTop, kLeft + width, kTop, "mark");
  svg.text(kLeft + width, kTop - 4, fmt::format("high-water mark: {} words", high), "faint",
           Anchor::End);
  svg.text(kLeft + width / 2, bottom + 34, "instruction", "faint", Anchor::Middle);
  svg.text(6, 50, "address", "faint");
  return svg.document(
      kLeft + width + kMargin, bottom + 48,
      "The scratchpad over time: what each word holds, from its write to its last use");
}

std::string tiles_svg(const Program& program) {
  std::map<NodeIndex, std::vector<size_t>> numbers;  // of the MM of each product
  const std::vector<NodeIndex> nodes = computed_nodes(program);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (std::holds_alternative<Multiply>(program.instructions[i])) numbers[nodes[i]].push_back(i);
  }
  constexpr double kCell = 12;
  constexpr double kWide = 1200;
  Svg svg;
  double x = kMargin;
  double y = kTop - 16;
  double row_height = 0;
  double width = 0;
  for (const auto& [index, mm] : numbers) {
    const NetworkNode& node = program.network.node(index);
    const int64_t k = program.network.node(node.operands[0]).shape.columns;
    const std::string head =
        fmt::format("%{} = {} \u00b7 {}{}", index, node_label(program.network, node.operands[0]),
                    node_label(program.network, node.operands[1]), node.transpose_b ? "^T" : "");
    const std::string sizes = fmt::format("({} x {}) x ({} x {}), {} tile{}", node.shape.rows, k, k,
                                          node.shape.columns, mm.size(), mm.size() == 1 ? "" : "s");
    const double across = std::max(
        {kCell * static_cast<double>(node.shape.columns), text_width(head), text_width(sizes)});
    if (x > kMargin && x + across > kWide) {
      x = kMargin;
      y += row_height;
      row_height = 0;
    }
    svg.text(x, y + kLine, head);
    svg.text(x, y + 2 * kLine, sizes, "faint");
    const double top = y + 2 * kLine + 8;
    const std::vector<Tile> tiles = tiles_of(node.shape.rows, node.shape.columns);
    for (size_t i = 0; i < tiles.size(); ++i) {
      const Tile& tile = tiles[i];
      const Box box{
          x + kCell * static_cast<double>(tile.column), top + kCell * static_cast<double>(tile.row),
          kCell * static_cast<double>(tile.columns), kCell * static_cast<double>(tile.rows)};
      svg.rectangle(
          box, "tile",
          fmt::format("instruction {}: rows {} to {}, columns {} to {}", mm[i], tile.row,
                      tile.row + tile.rows - 1, tile.column, tile.column + tile.columns - 1));
      for (int64_t line = 1; line < tile.columns; ++line) {
        const double at = box.x + kCell * static_cast<double>(line);
        svg.line(at, box.y + 1, at, box.y + box.height - 1, "grid");
      }
      for (int64_t line = 1; line < tile.rows; ++line) {
        const double at = box.y + kCell * static_cast<double>(line);
        svg.line(box.x + 1, at, box.x + box.width - 1, at, "grid");
      }
      label(svg, box, fmt::format("{}", mm[i]));
    }
    width = std::max(width, x + across);
    row_height =
        std::max(row_height, 2 * kLine + 36 + kCell * static_cast<double>(node.shape.rows));
    x += across + 2 * kMargin;
  }
  const std::string title = "The tiles of each product: one MM instruction each, with its number";
  return svg.document(std::max(width + kMargin, 8 * static_cast<double>(title.size())),
                      y + row_height + kMargin, title);
}

std::string scales_svg(const Program& program) {
  constexpr double kBar = 420;
  constexpr double kRow = 24;
  constexpr double kNames = 150;
  Svg svg;
  svg.rectangle({kMargin, 38, 12, 12}, "held");
  svg.text(kMargin + 17, 48, "what the levels -127 to 127 hold");
  svg.rectangle({kMargin + 240, 38, 12, 12}, "used");
  svg.text(kMargin + 257, 48, "range in calibration");
  svg.rectangle({kMargin + 410, 38, 12, 12}, "over");
  svg.text(kMargin + 427, 48, "beyond the levels: saturates");
  double y = kTop;
  for (NodeIndex i = 0; i < program.network.size(); ++i) {
    const NetworkNode& node = program.network.node(i);
    if (node.op == NodeOp::Argmax) continue;
    const bool is_index =
        node.op == NodeOp::Output && program.network.node(node.operands[0]).op == NodeOp::Argmax;
    if (is_index) continue;
    const int64_t levels = node.op == NodeOp::Weight && node.bits == 4 ? 7 : kMostLevel;
    const double held = program.scale(i) * static_cast<double>(levels);
    const double range = program.plan.ranges[static_cast<size_t>(i)];
    const double share = range / held;
    svg.text(kMargin, y + 15, fmt::format("%{} {} {}", i, node_op_name(node.op), node.name));
    const double left = kMargin + kNames;
    const Box whole{left, y + 4, kBar, kRow - 8};
    svg.rectangle(whole, "held");
    // Both sides of 0, which is the middle.
    const double half = kBar / 2 * std::min(share, 1.0);
    svg.rectangle({left + kBar / 2 - half, y + 4, 2 * half, kRow - 8}, "used",
                  fmt::format("range {:.4g}, levels hold {:.4g}", range, held));
    if (share > 1.0001) {
      svg.rectangle({left - 6, y + 4, 6, kRow - 8}, "over");
      svg.rectangle({left + kBar, y + 4, 6, kRow - 8}, "over");
    }
    svg.line(left + kBar / 2, y + 2, left + kBar / 2, y + kRow - 2, "grid");
    svg.text(left + kBar + 14, y + 15,
             fmt::format("\u00b1{:.4g} of \u00b1{:.4g}, {:.0f} of {} levels, one step {:.6f}",
                         range, held, std::min(share, 1.0) * static_cast<double>(levels), levels,
                         program.scale(i)));
    y += kRow;
  }
  return svg.document(kMargin + kNames + kBar + 360, y + kMargin,
                      "The scales: each tensor's range against what its levels hold");
}

}  // namespace capra::ga2
