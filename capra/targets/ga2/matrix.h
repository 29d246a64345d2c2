// Matrices, and what they have in real numbers and in integers alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace capra::ga2 {

/// A matrix in row-major order. Both extents are 1 or more.
template <class T>
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<T> values = {};

  Matrix() = default;
  Matrix(int64_t row_count, int64_t column_count)
      : rows(row_count),
        columns(column_count),
        values(static_cast<size_t>(row_count * column_count)) {}
  T& at(int64_t row, int64_t column) { return values[static_cast<size_t>(row * columns + column)]; }
  const T& at(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * columns + column)];
  }
  std::span<const T> row(int64_t index) const {
    return std::span(values).subspan(static_cast<size_t>(index * columns),
                                     static_cast<size_t>(columns));
  }
  bool operator==(const Matrix&) const = default;
};

template <class T>
Matrix<T> concatenated(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> result = a;
  result.rows += b.rows;
  result.values.insert(result.values.end(), b.values.begin(), b.values.end());
  return result;
}

/// Rows `start` to one before `start + count`.
template <class T>
Matrix<T> rows_of(const Matrix<T>& x, int64_t start, int64_t count) {
  Matrix<T> result(count, x.columns);
  std::copy_n(x.values.begin() + static_cast<std::ptrdiff_t>(start * x.columns),
              result.values.size(), result.values.begin());
  return result;
}

/// a times b, or b transposed; sums of T from left to right.
template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b, bool transpose_b) {
  Matrix<T> result(a.rows, transpose_b ? b.rows : b.columns);
  for (int64_t i = 0; i < result.rows; ++i) {
    for (int64_t j = 0; j < result.columns; ++j) {
      T sum = 0;
      for (int64_t t = 0; t < a.columns; ++t) {
        sum += a.at(i, t) * (transpose_b ? b.at(j, t) : b.at(t, j));
      }
      result.at(i, j) = sum;
    }
  }
  return result;
}

/// The index of the first maximum of each row.
template <class T>
Matrix<T> argmax_rows(const Matrix<T>& x) {
  Matrix<T> result(x.rows, 1);
  for (int64_t i = 0; i < x.rows; ++i) {
    const auto row = x.row(i);
    result.at(i, 0) = static_cast<T>(std::ranges::max_element(row) - row.begin());
  }
  return result;
}

}  // namespace capra::ga2
