// Random strided operands (broadcast, transposed, stepped, reversed) of one random output shape,
// with plain index arithmetic to say which element stands where, and random cuts of the output.
#pragma once

#include <cstdint>
#include <vector>

#include "capra/targets/cpu/kernels/element.h"
#include "tests/targets/cpu/kernels/kernel_reference.h"

namespace capra::kernels {

struct StridedCase {
  int rank = 0;
  int64_t elements = 1;
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;  // [operand][dim]
  std::vector<int64_t> base;                  // [operand]: where element 0 stands
  std::vector<int64_t> extent;                // [operand]: elements to allocate

  StridedCase(Seeded& random, int operands) {
    rank = static_cast<int>(random.next() % 6);
    constexpr int64_t kSizes[] = {1, 1, 2, 3, 5, 17, 40};
    for (int d = 0; d < rank; ++d) {
      dims.push_back(kSizes[random.next() % 7]);
      elements *= dims.back();
    }
    while (elements > 20000) {
      elements /= dims.back();
      dims.pop_back();
      --rank;
    }
    for (int k = 0; k < operands; ++k) {
      std::vector<int64_t> stride(static_cast<size_t>(rank), 0);
      int64_t first = 0;
      int64_t size = 1;
      // The dims take their strides in order, or shuffled: a permutation.
      std::vector<int> order;
      for (int d = rank - 1; d >= 0; --d) order.push_back(d);
      if (random.next() % 3 == 0) {
        for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
      }
      for (const int d : order) {
        const uint64_t kind = random.next() % 8;
        if (kind == 0) continue;  // broadcast
        const int64_t step = kind == 1 ? 2 : 1;
        stride[static_cast<size_t>(d)] = size * step;
        size *= step * dims[static_cast<size_t>(d)];
        if (kind == 2) {  // reversed
          first += stride[static_cast<size_t>(d)] * (dims[static_cast<size_t>(d)] - 1);
          stride[static_cast<size_t>(d)] = -stride[static_cast<size_t>(d)];
        }
      }
      strides.push_back(stride);
      base.push_back(first);
      extent.push_back(size);
    }
  }

  /// The place of operand k's element for output element i.
  int64_t at(int k, int64_t i) const {
    int64_t place = base[static_cast<size_t>(k)];
    for (int d = rank - 1; d >= 0; --d) {
      place += i % dims[static_cast<size_t>(d)] *
               strides[static_cast<size_t>(k)][static_cast<size_t>(d)];
      i /= dims[static_cast<size_t>(d)];
    }
    return place;
  }

  /// The output in one to four pieces.
  std::vector<Range> pieces(Seeded& random) const {
    std::vector<Range> out;
    int64_t begin = 0;
    const uint64_t cuts = random.next() % 4;
    for (uint64_t c = 0; c < cuts; ++c) {
      const int64_t end =
          begin + static_cast<int64_t>(random.next() % static_cast<uint64_t>(elements - begin + 1));
      out.push_back({begin, end});
      begin = end;
    }
    out.push_back({begin, elements});
    return out;
  }
};

}  // namespace capra::kernels
