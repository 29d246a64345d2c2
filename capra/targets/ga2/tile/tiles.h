// Products cut into what the systolic array computes at once.
#pragma once

#include <vector>

#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// A product of matrices in the scratchpad, without gaps between their rows: dst [m, n] from
/// a [m, k] and b [k, n], or b [n, k] where `transpose_b`.
struct Product {
  int64_t dst = 0, a = 0, b = 0;
  int64_t m = 0, k = 0, n = 0;
  bool transpose_b = false;
};

/// Rows `row` to row + rows - 1 and the columns alike.
struct Tile {
  int64_t row = 0, column = 0, rows = 0, columns = 0;
};

/// The tiles of an [m, n] result, along rows first.
std::vector<Tile> tiles_of(int64_t m, int64_t n);

/// One instruction a tile.
std::vector<Multiply> tiled(const Product& product);

}  // namespace capra::ga2
