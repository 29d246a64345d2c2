// The matrix product: each element one sum over k, ascending.
#include <algorithm>
#include <array>

#include "capra/interp/primitive.h"
#include "capra/ops/matmul.h"

namespace capra::interp {
namespace {

// An operand as matrices of rows along k: `extent` rows of `k` elements, `batches` times.
struct RowsAlongK {
  Array array;
  int64_t extent;
  int64_t k;

  // `k_last`: the operand has k as its last axis already.
  RowsAlongK(const Array& x, bool k_last) {
    const size_t rank = x.sizes().size();
    if (k_last) {
      array = x;
    } else {
      std::vector<int64_t> axes(rank);
      for (size_t axis = 0; axis < rank; ++axis) axes[axis] = static_cast<int64_t>(axis);
      std::swap(axes[rank - 2], axes[rank - 1]);
      array = with_axes(x, axes);
    }
    extent = array.sizes()[rank - 2];
    k = array.sizes()[rank - 1];
  }
};

// For each batch of the result, the batch of an operand with the leading sizes `own`.
std::vector<int64_t> batch_map(const std::vector<int64_t>& own, const std::vector<int64_t>& all) {
  int64_t count = 1;
  for (const int64_t size : own) count *= size;
  Array numbers = Array::zeros(DType::I64, own);
  for (int64_t i = 0; i < count; ++i) numbers.set_i64(i, i);
  const Array expanded = expand(numbers, all);
  const std::span<const int64_t> values = expanded.as<int64_t>();
  return {values.begin(), values.end()};
}

std::vector<int64_t> leading(const std::vector<int64_t>& sizes) {
  return {sizes.begin(), sizes.end() - 2};
}

// Rows and columns that are computed together, so that each element is loaded once for several
// sums. The sums stay apart: each adds its own products in ascending k.
constexpr int64_t kTile = 4;
constexpr int64_t kBlock = 64;

// sums[r][c] = sum over k of a[r * a_step + i] * b[i * kTile + c]
template <class T>
void sum_tile(const T* a, int64_t a_step, int64_t rows, const T* b, int64_t k,
              std::array<std::array<T, kTile>, kTile>& sums) {
  // Rows past the last repeat row 0; nobody reads their sums.
  const T* row[kTile];
  for (int64_t r = 0; r < kTile; ++r) row[r] = a + (r < rows ? r : 0) * a_step;
  std::array<std::array<T, kTile>, kTile> sum{};
  for (int64_t i = 0; i < k; ++i) {
    for (size_t r = 0; r < kTile; ++r) {
      for (size_t c = 0; c < kTile; ++c) {
        sum[r][c] = static_cast<T>(sum[r][c] + row[r][i] * b[static_cast<size_t>(i) * kTile + c]);
      }
    }
  }
  sums = sum;
}

// One block of rows times one block of columns. b is rows along k.
template <class T>
void multiply_block(const T* a, const T* b, T* out, int64_t k, int64_t n, int64_t first_row,
                    int64_t last_row, int64_t first_column, int64_t last_column) {
  std::vector<T> strip(static_cast<size_t>(k * kTile));
  std::array<std::array<T, kTile>, kTile> sums;
  for (int64_t column = first_column; column < last_column; column += kTile) {
    const int64_t columns = std::min(kTile, last_column - column);
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < k; ++i) {
        strip[static_cast<size_t>(i * kTile + c)] = b[(column + c) * k + i];
      }
    }
    for (int64_t row = first_row; row < last_row; row += kTile) {
      const int64_t rows = std::min(kTile, last_row - row);
      sum_tile(a + row * k, k, rows, strip.data(), k, sums);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          out[(row + r) * n + column + c] = sums[static_cast<size_t>(r)][static_cast<size_t>(c)];
        }
      }
    }
  }
}

// T: double, or uint64_t for integers, whose low bits are those of any integer dtype.
template <class T>
void multiply(const Call& call, const RowsAlongK& a, const RowsAlongK& b, Array& result) {
  const std::vector<int64_t> batch_sizes = leading(result.sizes());
  const std::vector<int64_t> a_batch = batch_map(leading(a.array.sizes()), batch_sizes);
  const std::vector<int64_t> b_batch = batch_map(leading(b.array.sizes()), batch_sizes);
  const int64_t m = a.extent;
  const int64_t n = b.extent;
  const int64_t k = a.k;
  const int64_t row_blocks = (m + kBlock - 1) / kBlock;
  const int64_t column_blocks = (n + kBlock - 1) / kBlock;
  const T* a_data = a.array.as<T>().data();
  const T* b_data = b.array.as<T>().data();
  T* out = result.mutable_as<T>().data();
  const auto batches = static_cast<int64_t>(a_batch.size());
  call.pool.run(batches * row_blocks * column_blocks, [&](int64_t task, int) {
    const int64_t batch = task / (row_blocks * column_blocks);
    const int64_t row = task / column_blocks % row_blocks * kBlock;
    const int64_t column = task % column_blocks * kBlock;
    multiply_block(a_data + a_batch[static_cast<size_t>(batch)] * m * k,
                   b_data + b_batch[static_cast<size_t>(batch)] * n * k, out + batch * m * n, k, n,
                   row, std::min(row + kBlock, m), column, std::min(column + kBlock, n));
  });
}

Array as_u64(const Array& x) {
  Array wide = Array::zeros(DType::U64, x.sizes());
  for (int64_t i = 0; i < x.elements(); ++i) wide.set_i64(i, x.i64_at(i));
  return wide;
}

}  // namespace

Array run_matmul(const Call& call) {
  const auto attrs = call.attrs_as<MatmulAttrs>();
  Array result = call.make_result();
  if (is_float(result.dtype())) {
    const RowsAlongK a(call.operand(0), !attrs.transpose_a);
    const RowsAlongK b(call.operand(1), attrs.transpose_b);
    multiply<double>(call, a, b, result);
    if (attrs.factor == 1.0) return result;
    for (double& element : result.mutable_as<double>()) element *= attrs.factor;
    return result;
  }
  const RowsAlongK a(as_u64(call.operand(0)), !attrs.transpose_a);
  const RowsAlongK b(as_u64(call.operand(1)), attrs.transpose_b);
  Array wide = Array::zeros(DType::U64, result.sizes());
  multiply<uint64_t>(call, a, b, wide);
  for (int64_t i = 0; i < result.elements(); ++i) result.set_i64(i, wide.i64_at(i));
  return result;
}

}  // namespace capra::interp
