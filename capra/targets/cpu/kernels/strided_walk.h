// Walks the elements of a contiguous output together with strided operands, row by row, where a row
// is the longest run that every operand crosses with one stride. Internal to the kernels:
// everything here has internal linkage.
#pragma once

#include <cstdint>
#include <cstring>

#include "capra/targets/cpu/kernels/element.h"

namespace capra::kernels {
namespace {

template <int kOperands>
class StridedWalk {
 public:
  /// `strides[k]` are operand k's element strides, one a dimension.
  StridedWalk(int rank, const int64_t* dims, const int64_t* const (&strides)[kOperands]) {
    for (int d = 0; d < rank; ++d) {
      if (dims[d] == 1) continue;
      bool joins = rank_ > 0;
      for (int k = 0; k < kOperands && joins; ++k) {
        joins = strides_[k][rank_ - 1] == strides[k][d] * dims[d];
      }
      if (!joins) {
        dims_[rank_] = 1;
        ++rank_;
      }
      dims_[rank_ - 1] *= dims[d];
      for (int k = 0; k < kOperands; ++k) strides_[k][rank_ - 1] = strides[k][d];
    }
    if (rank_ == 0) {
      rank_ = 1;
      dims_[0] = 1;
      for (int k = 0; k < kOperands; ++k) strides_[k][0] = 0;
    }
  }

  /// Whether all elements are one row.
  bool is_row() const { return rank_ == 1; }

  /// Operand k's stride along a row.
  int64_t step(int k) const { return strides_[k][rank_ - 1]; }

  /// Calls row(first, n, offsets) for the runs of [range.begin, range.end): output elements first
  /// to first + n, and where each operand's first element lies.
  template <class Row>
  void rows(Range range, Row row) const {
    if (range.begin >= range.end) return;
    int64_t index[kMaxRank];
    int64_t offsets[kOperands] = {};
    int64_t rest = range.begin;
    for (int d = rank_ - 1; d >= 0; --d) {
      index[d] = rest % dims_[d];
      rest /= dims_[d];
      for (int k = 0; k < kOperands; ++k) offsets[k] += index[d] * strides_[k][d];
    }
    const int last = rank_ - 1;
    for (int64_t first = range.begin;;) {
      const int64_t to_row_end = dims_[last] - index[last];
      const int64_t to_end = range.end - first;
      const int64_t n = to_row_end < to_end ? to_row_end : to_end;
      row(first, n, offsets);
      first += n;
      if (first >= range.end) return;
      for (int k = 0; k < kOperands; ++k) offsets[k] -= index[last] * strides_[k][last];
      index[last] = 0;
      for (int d = last - 1; d >= 0; --d) {
        for (int k = 0; k < kOperands; ++k) offsets[k] += strides_[k][d];
        if (++index[d] < dims_[d]) break;
        for (int k = 0; k < kOperands; ++k) offsets[k] -= dims_[d] * strides_[k][d];
        index[d] = 0;
      }
    }
  }

 private:
  int rank_ = 0;
  int64_t dims_[kMaxRank];
  int64_t strides_[kOperands][kMaxRank];
};

/// How many elements the kernels buffer on the stack where a row is not contiguous.
constexpr int64_t kChunk = 256;

/// n elements of a row as the row kernels want them: in place if the step is 0 or 1, else copied
/// into `buffer` (kChunk elements; n <= kChunk then). `step` becomes 0 or 1.
template <class T>
inline const T* chunk_of_row(const T* row, int64_t& step, int64_t n, T* buffer) {
  if (step == 0 || step == 1) return row;
  for (int64_t i = 0; i < n; ++i) std::memcpy(buffer + i, row + i * step, sizeof(T));
  step = 1;
  return buffer;
}

}  // namespace
}  // namespace capra::kernels
