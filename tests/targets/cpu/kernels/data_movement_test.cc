// Copies, gathers and iota against plain index arithmetic.
#include "capra/targets/cpu/kernels/data_movement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "capra/base/half.h"
#include "tests/targets/cpu/kernels/strided_case.h"

namespace capra::kernels {
namespace {

template <class T>
void check_copies() {
  Seeded random(sizeof(T));
  for (int round = 0; round < 60; ++round) {
    const StridedCase shape(random, 1);
    std::vector<T> x(static_cast<size_t>(shape.extent[0]));
    for (T& v : x) v = static_cast<T>(random.next());
    std::vector<T> y(static_cast<size_t>(shape.elements), T{99});
    for (const Range piece : shape.pieces(random)) {
      copy_strided(sizeof(T), {x.data() + shape.base[0], shape.strides[0].data()}, y.data(),
                   shape.rank, shape.dims.data(), piece);
    }
    for (int64_t i = 0; i < shape.elements; ++i) {
      ASSERT_EQ(y[static_cast<size_t>(i)], x[static_cast<size_t>(shape.at(0, i))]);
    }
  }
}
TEST(data_movement, strided_copies_of_every_size) {
  check_copies<uint8_t>();
  check_copies<uint16_t>();
  check_copies<uint32_t>();
  check_copies<uint64_t>();
}

TEST(data_movement, an_empty_output_writes_nothing) {
  const std::vector<int64_t> dims = {3, 0, 4};
  const std::vector<int64_t> strides = {4, 4, 1};
  uint32_t guard = 5;
  copy_strided(4, {nullptr, strides.data()}, &guard, 3, dims.data(), {0, 0});
  copy_into_columns(4, nullptr, 3, 0, &guard, 1, 0);
  gather(4, nullptr, 1, 4, 0, Element::I64, nullptr, 0, &guard);
  EXPECT_EQ(guard, 5u);
}

TEST(data_movement, concatenation_by_columns) {
  const std::vector<uint16_t> a = {1, 2, 3, 4};         // [2, 2]
  const std::vector<uint16_t> b = {5, 6, 7, 8, 9, 10};  // [2, 3]
  std::vector<uint16_t> y(10);
  copy_into_columns(2, a.data(), 2, 2, y.data(), 5, 0);
  copy_into_columns(2, b.data(), 2, 3, y.data(), 5, 2);
  EXPECT_EQ(y, (std::vector<uint16_t>{1, 2, 5, 6, 7, 3, 4, 8, 9, 10}));
}

TEST(data_movement, gather_along_a_middle_axis) {
  // x[o][a][i] = 100 o + 10 a + i, [2, 4, 3].
  std::vector<uint32_t> x;
  for (uint32_t o = 0; o < 2; ++o) {
    for (uint32_t a = 0; a < 4; ++a) {
      for (uint32_t i = 0; i < 3; ++i) x.push_back(100 * o + 10 * a + i);
    }
  }
  const std::vector<int64_t> wide = {3, 0, 3};
  const std::vector<uint8_t> narrow = {3, 0, 3};
  const std::vector<int32_t> middle = {3, 0, 3};
  std::vector<uint32_t> expected;
  for (const uint32_t o : {0u, 1u}) {
    for (const uint32_t a : {3u, 0u, 3u}) {
      for (const uint32_t i : {0u, 1u, 2u}) expected.push_back(100 * o + 10 * a + i);
    }
  }
  std::vector<uint32_t> y(18);
  gather(4, x.data(), 2, 4, 3, Element::I64, wide.data(), 3, y.data());
  EXPECT_EQ(y, expected);
  std::fill(y.begin(), y.end(), 0u);
  gather(4, x.data(), 2, 4, 3, Element::U8, narrow.data(), 3, y.data());
  EXPECT_EQ(y, expected);
  std::fill(y.begin(), y.end(), 0u);
  gather(4, x.data(), 2, 4, 3, Element::I32, middle.data(), 3, y.data());
  EXPECT_EQ(y, expected);
}

TEST(data_movement, indices_out_of_range_are_found) {
  const std::vector<int64_t> i64 = {0, 9, 10, -1};
  EXPECT_EQ(find_index_out_of_range(Element::I64, i64.data(), 2, 10), -1);
  EXPECT_EQ(find_index_out_of_range(Element::I64, i64.data(), 4, 10), 2);
  EXPECT_EQ(find_index_out_of_range(Element::I64, i64.data(), 4, 11), 3);
  const std::vector<int8_t> i8 = {0, 5, -128};
  EXPECT_EQ(find_index_out_of_range(Element::I8, i8.data(), 3, 6), 2);
  const std::vector<uint64_t> u64 = {0, 1ull << 63};
  EXPECT_EQ(find_index_out_of_range(Element::U64, u64.data(), 2, 1), 1);
  const std::vector<uint8_t> u8 = {255, 0};
  EXPECT_EQ(find_index_out_of_range(Element::U8, u8.data(), 2, 256), -1);
}

TEST(data_movement, iota_wraps_or_rounds) {
  std::vector<float> f(12);
  iota(Element::F32, 2, 3, 2, f.data());
  EXPECT_EQ(f, (std::vector<float>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
  std::vector<int8_t> wrapping(300);
  iota(Element::I8, 1, 300, 1, wrapping.data());
  EXPECT_EQ(wrapping[127], 127);
  EXPECT_EQ(wrapping[128], -128);
  EXPECT_EQ(wrapping[256], 0);
  std::vector<uint16_t> half(4096);
  iota(Element::F16, 1, 4096, 1, half.data());
  EXPECT_EQ(f16_to_f32(half[2047]), 2047.0f);
  EXPECT_EQ(f16_to_f32(half[2049]), 2048.0f);  // a tie, to even
  EXPECT_EQ(f16_to_f32(half[2051]), 2052.0f);
  iota(Element::BF16, 1, 4096, 1, half.data());
  EXPECT_EQ(bf16_to_f32(half[257]), 256.0f);
  std::vector<double> d(3);
  iota(Element::F64, 1, 3, 1, d.data());
  EXPECT_EQ(d, (std::vector<double>{0, 1, 2}));
}

}  // namespace
}  // namespace capra::kernels
