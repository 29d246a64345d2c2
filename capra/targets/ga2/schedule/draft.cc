// Node after node, as far as outputs need them; every result is made in its own words or in those
// of an operand that nothing reads any more.
#include "capra/targets/ga2/schedule/draft.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/schedule/sources.h"
#include "capra/targets/ga2/tile/tiles.h"

namespace capra::ga2 {
namespace {

constexpr NodeIndex kNever = std::numeric_limits<NodeIndex>::max();

// A buffer of `Places`, as far as it is needed.
struct Buffer {
  RowRange rows;
  int64_t columns = 0;
  int64_t writers = 0;  ///< nodes whose values lie here, views aside
  bool has_loaded = false;
  NodeIndex last_reader = -1;
  int64_t block = -1;
};

bool writes(NodeOp op) {
  return op != NodeOp::Relu && op != NodeOp::Concat && op != NodeOp::Slice && op != NodeOp::Output;
}

class Drafter {
 public:
  Drafter(const ScheduledGraph& graph, const DraftOptions& options)
      : graph_(graph),
        options_(options),
        buffers_(graph.places.buffer_words.size()),
        stored_(graph.network.nodes().size(), -1) {}

  Result<Draft> run() {
    find_streamed();
    measure_buffers();
    find_rescaled();
    CAPRA_TRY(check_packed());
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (!rows(i).empty()) CAPRA_TRY(emit(i));
    }
    for (const DraftInstruction& store : stores_) draft_.instructions.push_back(store);
    // What is stored at the end is read after everything.
    const int64_t end = std::ssize(draft_.instructions) - 1;
    for (int64_t i = 0; i <= end; ++i) {
      const DraftInstruction& one = draft_.instructions[static_cast<size_t>(i)];
      const bool at_end = one.output >= 0 && options_.stores_at_end;
      for (const Spot& spot : one.spots) {
        if (spot.block < 0) continue;
        draft_.blocks[static_cast<size_t>(spot.block)].last = at_end ? end : i;
      }
    }
    gather_sources();
    choose_together();
    lay_out(sources_, network(), options_.in_order_of_use, draft_);
    return std::move(draft_);
  }

 private:
  const Network& network() const { return graph_.network; }
  const NetworkNode& node(NodeIndex index) const { return network().node(index); }
  const RowRange& rows(NodeIndex index) const {
    return graph_.needs.rows[static_cast<size_t>(index)];
  }
  const std::vector<NodeIndex>& operands(NodeIndex index) const {
    return graph_.needs.operands[static_cast<size_t>(index)];
  }
  const Place& place(NodeIndex index) const {
    return graph_.places.places[static_cast<size_t>(index)];
  }
  Buffer& buffer(NodeIndex index) { return buffers_[static_cast<size_t>(place(index).buffer)]; }
  bool is_packed(NodeIndex index) const {
    return node(index).op == NodeOp::Weight && node(index).bits == 4 && !options_.unpacked;
  }
  bool is_outside(NodeIndex index) const {
    return node(index).op == NodeOp::Input || node(index).op == NodeOp::Weight;
  }

  // Weights that are only second operands are stored with each sum's terms side by side, in pieces
  // that one column of tiles reads.
  void find_streamed() {
    std::vector<int> forms(network().nodes().size(), 0);  // bits: 1 as it is, 2 transposed, 4 other
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (rows(i).empty()) continue;
      for (size_t k = 0; k < operands(i).size(); ++k) {
        const bool second = node(i).op == NodeOp::Matmul && k == 1;
        const int form = second ? (node(i).transpose_b ? 1 : 2) : 4;
        forms[static_cast<size_t>(operands(i)[k])] |= form;
      }
    }
    for (NodeIndex i = 0; i < network().size(); ++i) {
      const int form = forms[static_cast<size_t>(i)];
      if (node(i).op != NodeOp::Weight || is_packed(i) || (form != 1 && form != 2)) continue;
      const Matrix<int32_t> levels = stored_levels(node(i), graph_.plan.scales, i, form == 2);
      const auto same = std::ranges::find(streamed_, levels, &Streamed::levels);
      if (same != streamed_.end()) {
        stored_[static_cast<size_t>(i)] = same - streamed_.begin();
        same->nodes.push_back(i);
        continue;
      }
      stored_[static_cast<size_t>(i)] = std::ssize(streamed_);
      Streamed one{{i}, levels, {}};
      one.blocks.reserve(static_cast<size_t>((levels.rows + kTile - 1) / kTile));
      for (int64_t row = 0; row < levels.rows; row += kTile) {
        one.blocks.push_back(new_block(std::min(kTile, levels.rows - row) * levels.columns));
      }
      streamed_.push_back(std::move(one));
    }
  }

  bool is_streamed(NodeIndex index) const { return stored_[static_cast<size_t>(index)] >= 0; }

  void measure_buffers() {
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (rows(i).empty() || place(i).buffer < 0 || is_streamed(i)) continue;
      Buffer& one = buffer(i);
      one.columns = node(i).shape.columns;
      if (writes(node(i).op)) ++one.writers;
      one.has_loaded = one.has_loaded || is_outside(i);
    }
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (rows(i).empty()) continue;
      if (place(i).buffer >= 0 && !is_streamed(i)) {
        const RowRange own = rows_in_memory(i);
        buffer(i).rows.include({own.begin + place(i).row, own.end + place(i).row});
      }
      if (!writes(node(i).op) && node(i).op != NodeOp::Output) continue;
      const bool at_end = node(i).op == NodeOp::Output && options_.stores_at_end;
      for (const NodeIndex operand : operands(i)) {
        if (place(operand).buffer < 0) continue;
        NodeIndex& last = buffer(operand).last_reader;
        last = std::max(last, at_end ? kNever : i);
      }
    }
  }

  // A weight that only one sum reads stands outside at the sum's scale.
  void find_rescaled() {
    std::vector<int64_t> readers(network().nodes().size());
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (rows(i).empty()) continue;
      for (const NodeIndex operand : operands(i)) ++readers[static_cast<size_t>(operand)];
    }
    for (const Requantizer& one : graph_.requantizers) {
      if (!one.operand || rows(one.node).empty()) continue;
      const NodeIndex term = operands(one.node)[static_cast<size_t>(*one.operand)];
      if (node(term).op != NodeOp::Weight || is_packed(term)) continue;
      if (readers[static_cast<size_t>(term)] == 1) rescaled_[term] = one.factor;
    }
  }

  // What is unpacked is there as a whole.
  RowRange rows_in_memory(NodeIndex index) const {
    return is_packed(index) ? RowRange{0, node(index).shape.rows} : rows(index);
  }

  int64_t new_block(int64_t words) {
    draft_.blocks.push_back({.words = words});
    return std::ssize(draft_.blocks) - 1;
  }

  int64_t block_of(Buffer& one) {
    if (one.block < 0) one.block = new_block(one.rows.count() * one.columns);
    return one.block;
  }

  Spot spot(NodeIndex index, int64_t row) {
    Buffer& one = buffer(index);
    return {block_of(one), (place(index).row + row - one.rows.begin) * one.columns};
  }

  static Spot moved(const Spot& spot, int64_t by) { return {spot.block, spot.offset + by}; }

  void append(const Instruction& instruction, Spot first, Spot second = {}, Spot third = {}) {
    draft_.instructions.push_back({instruction, {first, second, third}});
  }

  // Packed values leave for their place at the first use.
  void unpack(NodeIndex index) {
    if (!is_packed(index) || packed_.contains(index)) return;
    const int64_t words = packed_words(node(index).shape.words());
    const int64_t packed = new_block(words);
    packed_[index] = packed;
    const int64_t values = block_of(buffer(index));
    draft_.blocks[static_cast<size_t>(values)].words = words * kPackedValues;
    append(Unpack{.len = word(words)}, {values, 0}, {packed, 0});
  }

  Status check_packed() {
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (rows(i).empty() || !is_packed(i) || buffer(i).writers == 1) continue;
      return fail("placement-impossible",
                  "packed weight " + node(i).name + " would be unpacked beside another tensor");
    }
    return {};
  }

  Status emit(NodeIndex index) {
    if (!writes(node(index).op) && node(index).op != NodeOp::Output) return {};
    for (const NodeIndex operand : operands(index)) {
      NodeIndex source = operand;
      while (node(source).op == NodeOp::Slice) source = node(source).operands[0];
      unpack(source);
    }
    switch (node(index).op) {
      case NodeOp::Matmul:
        return emit_matmul(index);
      case NodeOp::Softmax:
        emit_softmax(index);
        break;
      case NodeOp::Add:
        emit_add(index);
        break;
      case NodeOp::Argmax:
        for (int64_t row = rows(index).begin; row < rows(index).end; ++row) {
          const NodeIndex source = operands(index)[0];
          append(Argmax{.len = word(node(source).shape.columns)}, spot(index, row),
                 spot(source, row));
        }
        break;
      case NodeOp::Output: {
        DraftInstruction store{
            Store{.len = word(node(index).shape.words())}, {spot(operands(index)[0], 0)}, index};
        (options_.stores_at_end ? stores_ : draft_.instructions).push_back(store);
        break;
      }
      case NodeOp::Input:
      case NodeOp::Weight:
      case NodeOp::Relu:
      case NodeOp::Concat:
      case NodeOp::Slice:
        break;
    }
    return {};
  }

  const Requantizer* requantizer(NodeIndex index, std::optional<int64_t> operand = {}) const {
    const auto first = std::ranges::lower_bound(graph_.requantizers, index, {}, &Requantizer::node);
    for (auto one = first; one != graph_.requantizers.end() && one->node == index; ++one) {
      if (one->operand == operand) return &*one;
    }
    return nullptr;
  }

  void append_requantize(const Requantizer& by, int64_t words, Spot result, Spot source) {
    append(Requantize{.len = word(words),
                      .m = by.factor.mantissa,
                      .s = by.factor.shift,
                      .relu = by.relu ? 1U : 0U},
           result, source);
  }

  int64_t words(NodeIndex index) const { return rows(index).count() * node(index).shape.columns; }

  Status emit_matmul(NodeIndex index) {
    const NodeIndex a = operands(index)[0];
    const NodeIndex b = operands(index)[1];
    const int64_t k = node(a).shape.columns;
    const int64_t n = node(index).shape.columns;
    if (k > kMostInner) return fail("inner-dimension-too-large", "node " + number_text(index));
    const Streamed* streamed =
        is_streamed(b) ? &streamed_[static_cast<size_t>(stored_[static_cast<size_t>(b)])] : nullptr;
    const bool turned = streamed != nullptr || node(index).transpose_b;
    const auto column = [&](int64_t at) -> Spot {
      if (streamed != nullptr) return {streamed->blocks[static_cast<size_t>(at / kTile)], 0};
      return moved(spot(b, 0), turned ? at * k : at);
    };
    std::vector<Tile> tiles = tiles_of(rows(index).count(), n);
    std::ranges::sort(tiles, {}, [](const Tile& tile) { return std::pair(tile.column, tile.row); });
    for (const Tile& tile : tiles) {
      const int64_t row = rows(index).begin + tile.row;
      append(Multiply{.m = word(tile.rows),
                      .k = word(k),
                      .n = word(tile.columns),
                      .tb = turned ? 1U : 0U,
                      .lda = word(k),
                      .ldb = word(turned ? k : n),
                      .ldc = word(n)},
             moved(spot(index, row), tile.column), spot(a, row), column(tile.column));
    }
    const Spot result = spot(index, rows(index).begin);
    append_requantize(*requantizer(index), words(index), result, result);
    return {};
  }

  // Whether the tensor's words are its own, all read for the last time by node `by`, which needs
  // just these rows.
  bool ends_with(NodeIndex tensor, NodeIndex by) {
    if (is_packed(tensor)) return false;
    return is_alone(tensor, rows(by)) && buffer(tensor).last_reader == by;
  }

  bool is_alone(NodeIndex tensor, const RowRange& wanted) {
    const Buffer& one = buffer(tensor);
    const int64_t row = place(tensor).row;
    return one.writers == 1 && one.rows == RowRange{wanted.begin + row, wanted.end + row};
  }

  // The result's words are the operand's, where both can be.
  bool take_over(NodeIndex result, NodeIndex operand) {
    if (!ends_with(operand, result) || !is_alone(result, rows(result))) return false;
    // An output lies beside other outputs, what is loaded beside what else is.
    if (buffer(operand).has_loaded && buffer(result).last_reader == kNever) return false;
    buffer(result).block = block_of(buffer(operand));
    return true;
  }

  void emit_softmax(NodeIndex index) {
    const NodeIndex scores = operands(index)[0];
    take_over(index, scores);
    for (int64_t row = rows(index).begin; row < rows(index).end; ++row) {
      append(Softmax{.len = word(node(index).shape.columns)}, spot(index, row), spot(scores, row));
    }
    const Spot result = spot(index, rows(index).begin);
    append_requantize(*requantizer(index), words(index), result, result);
  }

  void emit_add(NodeIndex index) {
    const std::vector<NodeIndex>& terms = operands(index);
    // A view is at the place of what it shows, in steps of the same scale.
    const bool is_twice = place(terms[0]) == place(terms[1]);
    const int64_t len = words(index);
    const int64_t first = rows(index).begin;
    const bool taken = !is_twice && (take_over(index, terms[0]) || take_over(index, terms[1]));
    bool result_is_free = !taken;
    std::array<Spot, 2> sources;
    for (size_t i = 0; i < 2; ++i) {
      sources[i] = spot(terms[i], first);
      if (i == 1 && is_twice) {
        sources[1] = sources[0];
        break;
      }
      const Requantizer* by = requantizer(index, static_cast<int64_t>(i));
      if (by == nullptr || !changes_levels(*by) || rescaled_.contains(terms[i])) continue;
      Spot rescaled = sources[i];
      if (is_twice || !ends_with(terms[i], index)) {
        rescaled = result_is_free ? spot(index, first) : Spot{new_block(len), 0};
        result_is_free = false;
      }
      append_requantize(*by, len, rescaled, sources[i]);
      sources[i] = rescaled;
    }
    append(Add{.len = word(len)}, spot(index, first), sources[0], sources[1]);
  }

  void gather_sources() {
    for (Streamed& one : streamed_) {
      Source source{one.nodes, words_of(one.levels), 0, {}, false};
      int64_t at = 0;
      for (const int64_t block : one.blocks) {
        const int64_t words = draft_.blocks[static_cast<size_t>(block)].words;
        source.pieces.push_back({block, 0, at, words});
        at += words;
      }
      source.words = at;
      sources_.push_back(std::move(source));
    }
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (!is_outside(i) || rows(i).empty() || is_streamed(i)) continue;
      Source source{{i}, {}, node(i).shape.words(), {}, buffer(i).writers > 1};
      if (is_packed(i)) {
        const auto packed = packed_.find(i);
        if (packed == packed_.end()) continue;
        source.words = draft_.blocks[static_cast<size_t>(packed->second)].words;
        source.pieces.push_back({packed->second, 0, 0, source.words});
      } else {
        if (node(i).op == NodeOp::Weight) {
          Matrix<int32_t> levels = stored_levels(node(i), graph_.plan.scales, i, false);
          if (const auto by = rescaled_.find(i); by != rescaled_.end()) {
            for (int32_t& level : levels.values) level = requantize(level, by->second, false);
          }
          source.contents = words_of(levels);
        }
        const RowRange own = rows_in_memory(i);
        const Spot at = spot(i, own.begin);
        const int64_t columns = node(i).shape.columns;
        source.pieces.push_back({at.block, at.offset, own.begin * columns, own.count() * columns});
      }
      sources_.push_back(std::move(source));
    }
  }

  // Blocks of outputs that are computed: side by side one store takes them all. Beside one that is
  // partly loaded the others lie where nothing is loaded.
  void choose_together() {
    if (!options_.stores_at_end) return;
    std::vector<int64_t> loaded_from(draft_.blocks.size(), -1);
    std::vector<int64_t> loaded_to(draft_.blocks.size(), -1);
    for (const Source& source : sources_) {
      for (const Piece& piece : source.pieces) {
        const auto block = static_cast<size_t>(piece.block);
        if (loaded_from[block] < 0 || piece.offset < loaded_from[block])
          loaded_from[block] = piece.offset;
        loaded_to[block] = std::max(loaded_to[block], piece.offset + piece.words);
      }
    }
    int64_t host = -1;
    bool host_is_last = false;
    for (const DraftInstruction& one : draft_.instructions) {
      if (one.output < 0) continue;
      const int64_t block = one.spots[0].block;
      const auto at = static_cast<size_t>(block);
      if (std::ranges::find(draft_.together, block) != draft_.together.end() || block == host)
        continue;
      if (loaded_from[at] < 0) {
        draft_.together.push_back(block);
        continue;
      }
      const bool at_front = loaded_from[at] == 0;
      const bool at_back = loaded_to[at] == draft_.blocks[at].words;
      if (host < 0 && at_front != at_back) {
        host = block;
        host_is_last = at_back;
      }
    }
    if (host < 0) return;
    draft_.together.insert(host_is_last ? draft_.together.end() : draft_.together.begin(), host);
  }

  const ScheduledGraph& graph_;
  const DraftOptions& options_;
  Draft draft_;
  std::vector<Buffer> buffers_;
  std::vector<Streamed> streamed_;
  std::vector<int64_t> stored_;  // by node: its place in streamed_
  std::map<NodeIndex, int64_t> packed_;
  std::map<NodeIndex, Multiplier> rescaled_;  // weights
  std::vector<DraftInstruction> stores_;
  std::vector<Source> sources_;
};

}  // namespace

Result<Draft> draft_program(const ScheduledGraph& graph, const DraftOptions& options) {
  return Drafter(graph, options).run();
}

}  // namespace capra::ga2
