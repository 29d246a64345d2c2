// Groups of sources, their order, and the parts that loads are made of.
#include "capra/targets/ga2/schedule/sources.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "capra/targets/ga2/quantize/fixed_point.h"

namespace capra::ga2 {
namespace {

// A load of its own costs 11 cycles; so many words that nobody needs are loaded rather than
// skipped.
constexpr int64_t kWordsOfALoad = 10;

// Sources that lie side by side: those of one block, or one.
struct Group {
  std::vector<const Source*> sources;
  std::vector<int64_t> offsets;  ///< of the sources
  int64_t words = 0;
  int64_t before = 0;  ///< words of the block before the first loaded one
  int64_t behind = 0;
  bool skips_front = false;  ///< the first rows are not needed
  bool skips_back = false;
  int64_t first_use = std::numeric_limits<int64_t>::max();
};

std::vector<Group> groups_of(const std::vector<Source>& sources, const Draft& draft) {
  std::vector<int64_t> first_use(draft.blocks.size(), std::numeric_limits<int64_t>::max());
  for (size_t i = draft.instructions.size(); i-- > 0;) {
    for (const Spot& spot : draft.instructions[i].spots) {
      if (spot.block >= 0) first_use[static_cast<size_t>(spot.block)] = static_cast<int64_t>(i);
    }
  }
  std::vector<const Source*> sorted;
  sorted.reserve(sources.size());
  for (const Source& one : sources) sorted.push_back(&one);
  std::ranges::sort(sorted, {}, [](const Source* source) {
    return std::pair(source->pieces.front().block, source->pieces.front().offset);
  });
  std::vector<Group> groups;
  groups.reserve(sorted.size());
  for (const Source* source : sorted) {
    const Piece& first = source->pieces.front();
    const Piece& last = source->pieces.back();
    const bool joins = source->shares_block && !groups.empty() &&
                       groups.back().sources.back()->pieces.front().block == first.block;
    if (!joins) {
      groups.emplace_back();
      groups.back().before = first.offset;
    }
    Group& group = groups.back();
    if (joins) {
      const Piece& previous = group.sources.back()->pieces.back();
      const int64_t gap = first.offset - previous.offset - previous.words;
      if (gap <= kWordsOfALoad) group.words += gap;
    }
    group.sources.push_back(source);
    group.offsets.push_back(group.words);
    group.words += source->words;
    group.behind = draft.blocks[static_cast<size_t>(last.block)].words - last.offset - last.words;
    group.skips_front = group.skips_front || first.in_source > kWordsOfALoad;
    group.skips_back = source->words - last.in_source - last.words > kWordsOfALoad;
    for (const Piece& piece : source->pieces) {
      group.first_use = std::min(group.first_use, first_use[static_cast<size_t>(piece.block)]);
    }
  }
  return groups;
}

// In the order of use; what is used at once, in the author's.
void sort_groups(std::vector<Group>& groups,
                 const std::function<int(const Group&)>& first = nullptr) {
  std::ranges::sort(groups, {}, [&](const Group& group) {
    return std::tuple(first ? first(group) : 0, group.first_use, group.sources[0]->nodes[0]);
  });
}

// Loads begin with groups that have words before them in their block, and end with those that have
// some behind: one of each, with all that have neither between them, then pairs.
std::vector<Group> ordered(std::vector<Group> groups, const Draft& draft) {
  std::vector<Group> fronts;
  std::vector<Group> plain;
  std::vector<Group> backs;
  std::vector<Group> both;
  for (Group& group : groups) {
    std::vector<Group>& kind =
        group.before > 0 ? (group.behind > 0 ? both : fronts) : (group.behind > 0 ? backs : plain);
    kind.push_back(std::move(group));
  }
  const auto after_hosts = [&](const Group& group) {
    return std::ranges::find(draft.together, group.sources[0]->pieces[0].block) ==
                   draft.together.end()
               ? 1
               : 0;
  };
  sort_groups(fronts, after_hosts);
  sort_groups(backs, after_hosts);
  sort_groups(plain, [](const Group& group) {
    return group.skips_front ? 0 : group.skips_back ? 2 : 1;
  });
  std::vector<Group> all;
  all.reserve(groups.size());
  for (size_t i = 0; i < std::max({fronts.size(), backs.size(), size_t{1}}); ++i) {
    if (i < fronts.size()) all.push_back(std::move(fronts[i]));
    if (i == 0) std::ranges::move(plain, std::back_inserter(all));
    if (i < backs.size()) all.push_back(std::move(backs[i]));
  }
  sort_groups(both);
  std::ranges::move(both, std::back_inserter(all));
  return all;
}

// Follows the last part where that saves a load.
void append_part(const LoadedPart& part, Draft& draft) {
  if (!draft.parts.empty()) {
    LoadedPart& last = draft.parts.back();
    Block& block = draft.blocks[static_cast<size_t>(last.block)];
    const int64_t gap = part.external - last.external - last.words;
    if (part.block == last.block && part.offset - last.offset == part.external - last.external) {
      last.words = part.offset + part.words - last.offset;
      return;
    }
    const bool ends_block = last.offset + last.words == block.words;
    if (gap > 0 && gap <= kWordsOfALoad && ends_block && part.offset == 0) {
      last.words += gap;
      block.words += gap;
    }
  }
  draft.blocks[static_cast<size_t>(part.block)].parts.push_back(std::ssize(draft.parts));
  draft.parts.push_back(part);
}

}  // namespace

Matrix<int32_t> stored_levels(const NetworkNode& weight, std::span<const double> scales,
                              NodeIndex index, bool transposed) {
  const Matrix<double>& values = weight.weights;
  const double scale = scales[static_cast<size_t>(index)];
  Matrix<int32_t> levels(transposed ? values.columns : values.rows,
                         transposed ? values.rows : values.columns);
  for (int64_t i = 0; i < values.rows; ++i) {
    for (int64_t j = 0; j < values.columns; ++j) {
      const int32_t level = quantize(values.at(i, j), scale);
      (transposed ? levels.at(j, i) : levels.at(i, j)) = level;
    }
  }
  return levels;
}

std::vector<uint32_t> words_of(const Matrix<int32_t>& levels) {
  return {levels.values.begin(), levels.values.end()};
}

void lay_out(const std::vector<Source>& sources, const Network& network, bool in_order_of_use,
             Draft& draft) {
  std::vector<Group> groups = groups_of(sources, draft);
  if (in_order_of_use) {
    sort_groups(groups);
  } else {
    groups = ordered(std::move(groups), draft);
  }
  const auto add = [&](NodeIndex node, int64_t address, const Source* source) {
    const int64_t words = source == nullptr ? network.node(node).shape.words() : source->words;
    draft.regions.push_back({network.node(node).name, node, address, words,
                             source == nullptr ? std::vector<uint32_t>{} : source->contents});
  };
  std::vector<bool> placed(network.nodes().size());
  for (const Group& group : groups) {
    for (size_t i = 0; i < group.sources.size(); ++i) {
      const Source& source = *group.sources[i];
      const int64_t address = draft.external_words + group.offsets[i];
      for (const NodeIndex node : source.nodes) {
        add(node, address, &source);
        placed[static_cast<size_t>(node)] = true;
      }
      for (const Piece& piece : source.pieces) {
        append_part({piece.block, piece.offset, piece.words, address + piece.in_source}, draft);
      }
    }
    draft.external_words += group.words;
  }
  for (NodeIndex i = 0; i < network.size(); ++i) {
    if (network.node(i).op != NodeOp::Input || placed[static_cast<size_t>(i)]) continue;
    add(i, draft.external_words, nullptr);
    draft.external_words += network.node(i).shape.words();
  }
}

}  // namespace capra::ga2
