// How a product is cut for threads. The cut never changes a result, only the time.
#include <algorithm>

#include "capra/targets/cpu/kernels/matmul.h"

namespace capra::kernels {
namespace {

// Below this many multiply-adds a part is not worth waking a thread for.
constexpr size_t kPartWork = size_t{1} << 16;

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// The time of the largest part, in multiply-adds: reading a weight from memory costs about 16 of
// them, copying an element of A about 2.
size_t cost(size_t rows, size_t columns) { return rows * columns + 16 * columns + 2 * rows; }

}  // namespace

size_t matmul_parts(const MatmulKernels& kernels, size_t m, size_t n, size_t k, size_t threads) {
  const size_t panels = ceil_div(n, kernels.panel);
  const size_t most = std::min(threads, m * panels);
  return std::clamp(m * n * std::max<size_t>(k, 1) / kPartWork, size_t{1},
                    std::max<size_t>(most, 1));
}

MatmulTile matmul_tile(const MatmulKernels& kernels, size_t m, size_t n, size_t parts,
                       size_t part) {
  const size_t panels = ceil_div(n, kernels.panel);
  size_t best_rows = 1;
  size_t best = 0;
  for (size_t by_rows = 1; by_rows <= parts; ++by_rows) {
    if (parts % by_rows != 0) continue;
    const size_t time =
        cost(ceil_div(m, by_rows), ceil_div(panels, parts / by_rows) * kernels.panel);
    if (by_rows == 1 || time < best) {
      best = time;
      best_rows = by_rows;
    }
  }
  const size_t by_columns = parts / best_rows;
  const size_t r = part / by_columns;
  const size_t c = part % by_columns;
  MatmulTile tile;
  tile.row_begin = m * r / best_rows;
  tile.row_end = m * (r + 1) / best_rows;
  tile.col_begin = std::min(n, panels * c / by_columns * kernels.panel);
  tile.col_end = std::min(n, panels * (c + 1) / by_columns * kernels.panel);
  return tile;
}

}  // namespace capra::kernels
