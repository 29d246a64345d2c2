// Copies, gathers and iota.
#include "capra/targets/cpu/kernels/data_movement.h"

#include <cstring>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/strided_walk.h"

namespace capra::kernels {
namespace {

// Unsigned integers stand for whatever is moved: bits, never values.
template <class F>
void for_element_size(size_t element_size, F f) {
  switch (element_size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

}  // namespace

void copy_strided(size_t element_size, Strided x, void* out, int rank, const int64_t* dims,
                  Range range) {
  const StridedWalk<1> walk(rank, dims, {x.strides});
  const int64_t step = walk.step(0);
  for_element_size(element_size, [&](auto sample) {
    using T = decltype(sample);
    const T* from = static_cast<const T*>(x.data);
    T* to = static_cast<T*>(out);
    walk.rows(range, [&](int64_t first, int64_t n, const int64_t(&offsets)[1]) {
      const T* row = from + offsets[0];
      if (step == 1) {
        std::memcpy(to + first, row, static_cast<size_t>(n) * sizeof(T));
      } else {
        for (int64_t i = 0; i < n; ++i) to[first + i] = row[i * step];
      }
    });
  });
}

void copy_into_columns(size_t element_size, const void* x, int64_t outer, int64_t inner, void* out,
                       int64_t out_inner, int64_t offset) {
  const auto row_bytes = static_cast<size_t>(inner) * element_size;
  const auto out_bytes = static_cast<size_t>(out_inner) * element_size;
  const char* from = static_cast<const char*>(x);
  char* to = static_cast<char*>(out) + static_cast<size_t>(offset) * element_size;
  if (row_bytes == 0) return;
  for (int64_t i = 0; i < outer; ++i) {
    std::memcpy(to, from, row_bytes);
    from += row_bytes;
    to += out_bytes;
  }
}

void gather(size_t element_size, const void* x, int64_t outer, int64_t axis, int64_t inner,
            Element index_type, const void* indices, int64_t count, void* out) {
  const auto row_bytes = static_cast<size_t>(inner) * element_size;
  if (row_bytes == 0) return;
  for_integer(index_type, [&](auto sample) {
    using Index = decltype(sample);
    const Index* index = static_cast<const Index*>(indices);
    const char* slab = static_cast<const char*>(x);
    char* to = static_cast<char*>(out);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(to, slab + static_cast<size_t>(index[i]) * row_bytes, row_bytes);
        to += row_bytes;
      }
      slab += static_cast<size_t>(axis) * row_bytes;
    }
  });
}

int64_t find_index_out_of_range(Element index_type, const void* indices, int64_t count,
                                int64_t axis) {
  int64_t found = -1;
  for_integer(index_type, [&](auto sample) {
    using Index = decltype(sample);
    const Index* index = static_cast<const Index*>(indices);
    for (int64_t i = 0; i < count && found < 0; ++i) {
      // As unsigned, a negative index is beyond every axis.
      const auto value = static_cast<uint64_t>(static_cast<int64_t>(index[i]));
      if (value >= static_cast<uint64_t>(axis)) found = i;
    }
  });
  return found;
}

void iota(Element type, int64_t outer, int64_t axis, int64_t inner, void* out) {
  const auto write = [&](auto value_of) {
    using T = decltype(value_of(int64_t{}));
    T* to = static_cast<T*>(out);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < axis; ++i) {
        const T value = value_of(i);
        for (int64_t k = 0; k < inner; ++k) *to++ = value;
      }
    }
  };
  switch (type) {
    case Element::F64:
      return write([](int64_t i) { return static_cast<double>(i); });
    case Element::F32:
      return write([](int64_t i) { return static_cast<float>(i); });
    case Element::F16:
      return write([](int64_t i) { return f64_to_f16(static_cast<double>(i)); });
    case Element::BF16:
      return write([](int64_t i) { return f64_to_bf16(static_cast<double>(i)); });
    default:
      return for_integer(type, [&](auto sample) {
        write([](int64_t i) { return static_cast<decltype(sample)>(i); });
      });
  }
}

}  // namespace capra::kernels
