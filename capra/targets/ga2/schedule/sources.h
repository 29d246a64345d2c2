// Where inputs and weights lie outside, so that few loads get all of them.
#pragma once

#include <vector>

#include "capra/targets/ga2/schedule/draft.h"

namespace capra::ga2 {

/// A weight as its tiles read it: row by row, in blocks of four rows.
struct Streamed {
  std::vector<NodeIndex> nodes;  ///< equal ones share it
  Matrix<int32_t> levels;
  std::vector<int64_t> blocks;
};

/// Some of a source's words, and where they go.
struct Piece {
  int64_t block = 0;
  int64_t offset = 0;     ///< in the block
  int64_t in_source = 0;  ///< the first word's place in the source
  int64_t words = 0;
};

/// An input, or one or more equal weights.
struct Source {
  std::vector<NodeIndex> nodes;
  std::vector<uint32_t> contents;  ///< of a weight; none where the region holds packed values
  int64_t words = 0;
  std::vector<Piece> pieces;
  bool shares_block = false;  ///< with results that are computed, or other sources
};

/// The levels of a weight, or of its transpose; of 4 bits, as they are unpacked.
Matrix<int32_t> stored_levels(const NetworkNode& weight, std::span<const double> scales,
                              NodeIndex index, bool transposed);
std::vector<uint32_t> words_of(const Matrix<int32_t>& levels);

/// Gives every source its address outside, and the draft its parts and regions. Sources that share
/// a block lie side by side. A load can begin with one part that has words before it in its block,
/// and end with one that has words behind it: the order makes use of both ends.
void lay_out(const std::vector<Source>& sources, const Network& network, bool in_order_of_use,
             Draft& draft);

}  // namespace capra::ga2
