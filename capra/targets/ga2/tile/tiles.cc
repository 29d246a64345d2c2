// Tiles of 4 x 4; those at the edges are smaller.
#include "capra/targets/ga2/tile/tiles.h"

#include <algorithm>

namespace capra::ga2 {

std::vector<Tile> tiles_of(int64_t m, int64_t n) {
  std::vector<Tile> tiles;
  for (int64_t row = 0; row < m; row += kTile) {
    for (int64_t column = 0; column < n; column += kTile) {
      tiles.push_back({row, column, std::min(kTile, m - row), std::min(kTile, n - column)});
    }
  }
  return tiles;
}

std::vector<Multiply> tiled(const Product& product) {
  const auto word = [](int64_t value) { return static_cast<uint32_t>(value); };
  const int64_t k = product.k;
  const int64_t n = product.n;
  std::vector<Multiply> instructions;
  for (const Tile& tile : tiles_of(product.m, n)) {
    const int64_t b_offset = product.transpose_b ? tile.column * k : tile.column;
    instructions.push_back({.dst = word(product.dst + tile.row * n + tile.column),
                            .a = word(product.a + tile.row * k),
                            .b = word(product.b + b_offset),
                            .m = word(tile.rows),
                            .k = word(k),
                            .n = word(tile.columns),
                            .tb = product.transpose_b ? 1u : 0u,
                            .lda = word(k),
                            .ldb = word(product.transpose_b ? k : n),
                            .ldc = word(n)});
  }
  return instructions;
}

}  // namespace capra::ga2
