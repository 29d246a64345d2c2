// Matrix products of every instruction set against the contract's order, bit for bit, and against
// sums in long double.
#include <gtest/gtest.h>

#include <string>

#include "capra/targets/cpu/kernels/kernel_table.h"
#include "tests/targets/cpu/kernels/kernel_reference.h"

namespace capra::kernels {
namespace {

class Matmul : public testing::TestWithParam<const KernelTable*> {
 protected:
  const MatmulKernels& table() const { return GetParam()->matmul; }
  bool portable() const { return GetParam()->isa == Isa::Portable; }
};

std::string table_name(const testing::TestParamInfo<const KernelTable*>& info) {
  return isa_name(info.param->isa);
}

// Strides of an operand [rows, cols], packed by rows or by columns with room between them.
struct Layout {
  ptrdiff_t row;
  ptrdiff_t col;
  size_t size;
};
Layout layout(size_t rows, size_t cols, bool by_columns, size_t gap) {
  if (by_columns) return {1, static_cast<ptrdiff_t>(rows + gap), cols * (rows + gap) + 1};
  return {static_cast<ptrdiff_t>(cols + gap), 1, rows * (cols + gap) + 1};
}
// Row-major without gaps.
Layout rows(size_t count, size_t cols) { return {static_cast<ptrdiff_t>(cols), 1, count * cols}; }

// Where in C a value differs from the reference, over the whole of C and the memory around it.
template <class T>
std::string first_difference(const std::vector<T>& got, const std::vector<T>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (!same_bits(got[i], want[i])) {
      return "at " + std::to_string(i) + ": " + std::to_string(got[i]) + " for " +
             std::to_string(want[i]);
    }
  }
  return "";
}

struct Shape {
  size_t m, n, k;
};

// A [m, k] times B [k, n] in the contract's order; what lies between the rows of C is -7.
template <class T>
std::vector<T> reference_product(const Shape& s, const std::vector<T>& a, const Layout& la,
                                 const std::vector<T>& b, const Layout& lb, const Layout& lc) {
  std::vector<T> c(lc.size, T{-7});
  for (size_t i = 0; i < s.m; ++i) {
    for (size_t j = 0; j < s.n; ++j) {
      T& to = c[i * static_cast<size_t>(lc.row) + j];
      to = s.k == 0 ? T{0}
                    : reference_dot(&a[i * static_cast<size_t>(la.row)], la.col,
                                    &b[j * static_cast<size_t>(lb.col)], lb.row, s.k);
    }
  }
  return c;
}

// A product of packed B without an epilogue; C has rows of `c_row`.
MatmulF32 product_of(const Shape& s, const std::vector<float>& a, const Layout& la,
                     const float* packed_b, std::vector<float>& c, ptrdiff_t c_row) {
  MatmulF32 product;
  product.m = s.m;
  product.n = s.n;
  product.k = s.k;
  product.a = a.data();
  product.a_row = la.row;
  product.a_col = la.col;
  product.packed_b = packed_b;
  product.c = c.data();
  product.c_row = c_row;
  return product;
}

// The same of B as it lies.
template <class Plain, class T>
Plain plain_product_of(const Shape& s, const std::vector<T>& a, const Layout& la,
                       const std::vector<T>& b, const Layout& lb, std::vector<T>& c,
                       ptrdiff_t c_row) {
  Plain product;
  product.m = s.m;
  product.n = s.n;
  product.k = s.k;
  product.a = a.data();
  product.a_row = la.row;
  product.a_col = la.col;
  product.b = b.data();
  product.b_row = lb.row;
  product.b_col = lb.col;
  product.c = c.data();
  product.c_row = c_row;
  return product;
}
std::vector<Shape> shapes(bool few) {
  std::vector<Shape> all;
  const std::vector<size_t> sizes =
      few ? std::vector<size_t>{0, 1, 5, 17, 65}
          : std::vector<size_t>{0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 65, 130};
  for (const size_t m : sizes) {
    for (const size_t n : sizes) {
      if (m * n > 65 * 65) continue;
      for (const size_t k : {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 128, 130, 200}) {
        if (few && k > 130) continue;
        if (m * n * static_cast<size_t>(k) > 200000) continue;
        all.push_back({m, n, static_cast<size_t>(k)});
      }
    }
  }
  if (!few) all.insert(all.end(), {{29, 127, 384}, {14, 64, 1536}, {400, 33, 400}});
  return all;
}

TEST_P(Matmul, PackedIsTheContractsOrder) {
  Seeded seeded(1);
  for (const Shape& s : shapes(portable())) {
    const auto [m, n, k] = s;
    const bool b_by_columns = seeded.next() % 2 == 0;
    const Layout la = layout(m, k, seeded.next() % 4 == 0, seeded.next() % 3);
    const Layout lb = layout(k, n, b_by_columns, seeded.next() % 3);
    const Layout lc = layout(m, n, false, seeded.next() % 3);
    const std::vector<float> a = seeded.wilds(la.size);
    const std::vector<float> b = seeded.wilds(lb.size);
    const std::vector<float> want = reference_product(s, a, la, b, lb, lc);
    Aligned<float> packed(table().packed_floats(k, n));
    table().pack_b(b.data(), lb.row, lb.col, k, n, 0, n, packed.get());
    Aligned<char> scratch(table().scratch_bytes(k));
    std::vector<float> c(lc.size, -7.0F);
    table().f32(product_of(s, a, la, packed.get(), c, lc.row), {0, m, 0, n}, scratch.get());
    ASSERT_EQ(first_difference(c, want), "") << m << " " << n << " " << k;

    std::vector<float> plain(lc.size, -7.0F);
    table().plain_f32(plain_product_of<MatmulPlainF32>(s, a, la, b, lb, plain, lc.row),
                      {0, m, 0, n}, scratch.get());
    ASSERT_EQ(first_difference(plain, want), "") << "plain " << m << " " << n << " " << k;
  }
}

TEST_P(Matmul, F64IsTheContractsOrder) {
  Seeded seeded(2);
  for (const Shape& s : shapes(true)) {
    const auto [m, n, k] = s;
    const Layout la = layout(m, k, seeded.next() % 2 == 0, 1);
    const Layout lb = layout(k, n, seeded.next() % 2 == 0, 2);
    const Layout lc = layout(m, n, false, 1);
    std::vector<double> a(la.size);
    std::vector<double> b(lb.size);
    for (double& x : a) x = seeded.wild() + 0x1p-30 * seeded.unit();
    for (double& x : b) x = seeded.wild() + 0x1p-30 * seeded.unit();
    std::vector<double> want = reference_product(s, a, la, b, lb, lc);
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) want[i * static_cast<size_t>(lc.row) + j] *= 0.3;
    }
    std::vector<double> c(lc.size, -7.0);
    Aligned<char> scratch(table().scratch_bytes(k));
    auto product = plain_product_of<MatmulPlainF64>(s, a, la, b, lb, c, lc.row);
    product.factor = 0.3;
    table().plain_f64(product, {0, m, 0, n}, scratch.get());
    ASSERT_EQ(first_difference(c, want), "") << m << " " << n << " " << k;
  }
}

// A block sum of 0 or of NaN, infinities, overflow inside a block, and results below the normals.
TEST_P(Matmul, SpecialValuesFollowTheOrder) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float big = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> lefts = {{big, big, -big, 1.0F},
                                                 {-0.0F, -0.0F},
                                                 {0x1p-100F, 0x1p-120F, 0x1p-75F},
                                                 {inf, -inf},
                                                 {nan, 1.0F},
                                                 {0x1.000002p-12F, 1.0F},
                                                 {1e-38F, -1e-38F, 1e-40F},
                                                 {big, 2.0F, -big, -2.0F}};
  for (const std::vector<float>& left : lefts) {
    for (const size_t k : {2, 63, 64, 66, 129}) {
      std::vector<float> a(k);
      std::vector<float> b(k);
      for (size_t i = 0; i < k; ++i) {
        a[i] = left[i % left.size()];
        b[i] = i % 3 == 0 ? 0x1.fffffcp-13F : (i % 3 == 1 ? 1.5F : -0.0F);
      }
      const float want = reference_dot(a.data(), 1, b.data(), 1, k);
      Aligned<char> scratch(table().scratch_bytes(k));
      float c = -7.0F;
      MatmulPlainF32 product;
      product.m = product.n = 1;
      product.k = k;
      product.a = a.data();
      product.b = b.data();
      product.b_row = 1;
      product.c = &c;
      table().plain_f32(product, {0, 1, 0, 1}, scratch.get());
      EXPECT_TRUE(same_bits(c, want)) << k << ": " << c << " for " << want;
    }
  }
}

// One fused multiply-add that differs if it goes through f64 (rounded twice).
TEST_P(Matmul, RoundsOnceAStep) {
  const float a[2] = {1.0F, 0x1.000002p-12F};
  const float b[2] = {0x1.000002p+0F, 0x1.fffffcp-13F};
  Aligned<char> scratch(table().scratch_bytes(2));
  float c = 0.0F;
  MatmulPlainF32 product;
  product.m = product.n = 1;
  product.k = 2;
  product.a = a;
  product.b = b;
  product.b_row = 1;
  product.c = &c;
  table().plain_f32(product, {0, 1, 0, 1}, scratch.get());
  EXPECT_EQ(c, 0x1.000002p+0F);
}

TEST_P(Matmul, EpilogueIsOneRoundedStepAfterAnother) {
  Seeded seeded(3);
  const Shape s{19, 45, 70};
  const auto [m, n, k] = s;
  const std::vector<float> a = seeded.units(m * k);
  const std::vector<float> b = seeded.units(k * n);
  const std::vector<float> bias = seeded.units(n);
  const std::vector<float> residual = seeded.units(m * (n + 2));
  Aligned<float> packed(table().packed_floats(k, n));
  table().pack_b(b.data(), n, 1, k, n, 0, n, packed.get());
  Aligned<char> scratch(table().scratch_bytes(k));
  for (int parts = 0; parts < 16; ++parts) {
    MatmulEpilogue e;
    if (parts & 1) e.factor = 0.17677669F;
    if (parts & 2) e.bias = bias.data();
    if (parts & 4) e.activation = Activation::Relu;
    if (parts & 8) {
      e.residual = residual.data();
      e.residual_row = n + 2;
    }
    std::vector<float> want = reference_product(s, a, rows(m, k), b, rows(k, n), rows(m, n));
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        float& x = want[i * n + j];
        if (parts & 1) x *= 0.17677669F;
        if (parts & 2) x += bias[j];
        if (parts & 4) x = x > 0.0F ? x : 0.0F;
        if (parts & 8) x += residual[i * (n + 2) + j];
      }
    }
    std::vector<float> c(want.size(), -7.0F);
    MatmulF32 product = product_of(s, a, rows(m, k), packed.get(), c, static_cast<ptrdiff_t>(n));
    product.epilogue = e;
    table().f32(product, {0, m, 0, n}, scratch.get());
    EXPECT_EQ(first_difference(c, want), "") << parts;
  }
}

// The residual may be the memory of the result.
TEST_P(Matmul, AddsInPlace) {
  Seeded seeded(4);
  const Shape s{31, 50, 65};
  const auto [m, n, k] = s;
  const std::vector<float> a = seeded.units(m * k);
  const std::vector<float> b = seeded.units(k * n);
  std::vector<float> c = seeded.units(m * n);
  const std::vector<float> product_alone =
      reference_product(s, a, rows(m, k), b, rows(k, n), rows(m, n));
  std::vector<float> want = c;
  for (size_t i = 0; i < want.size(); ++i) want[i] += product_alone[i];
  Aligned<float> packed(table().packed_floats(k, n));
  table().pack_b(b.data(), n, 1, k, n, 0, n, packed.get());
  Aligned<char> scratch(table().scratch_bytes(k));
  MatmulF32 product = product_of(s, a, rows(m, k), packed.get(), c, static_cast<ptrdiff_t>(n));
  product.epilogue.residual = c.data();
  product.epilogue.residual_row = n;
  table().f32(product, {0, m, 0, n}, scratch.get());
  // c was both read and written: want was computed from its old values.
  EXPECT_EQ(first_difference(c, want), "");
}

// However a product is cut, each element is computed once and has the same bits.
TEST_P(Matmul, TilesCoverOnceAndChangeNothing) {
  Seeded seeded(5);
  for (const Shape& s : {Shape{1, 300, 70}, Shape{40, 33, 64}, Shape{57, 130, 66},
                         Shape{200, 16, 20}, Shape{3, 1, 5}}) {
    const auto [m, n, k] = s;
    const std::vector<float> a = seeded.units(m * k);
    const std::vector<float> b = seeded.units(k * n);
    const std::vector<float> want = reference_product(s, a, rows(m, k), b, rows(k, n), rows(m, n));
    Aligned<char> scratch(table().scratch_bytes(k));
    for (const size_t parts : {1, 2, 3, 4, 7, 8, 64}) {
      Aligned<float> packed(table().packed_floats(k, n));
      std::vector<int> covered(m * n);
      std::vector<float> c(m * n);
      // B is packed in parts as well.
      for (size_t part = 0; part < parts; ++part) {
        const MatmulTile all = matmul_tile(table(), 1, n, parts, part);
        table().pack_b(b.data(), n, 1, k, n, all.col_begin, all.col_end, packed.get());
      }
      for (size_t part = 0; part < parts; ++part) {
        const MatmulTile tile = matmul_tile(table(), m, n, parts, part);
        ASSERT_EQ(tile.col_begin % table().panel * (tile.col_begin != n ? 1 : 0), 0U);
        for (size_t i = tile.row_begin; i < tile.row_end; ++i) {
          for (size_t j = tile.col_begin; j < tile.col_end; ++j) ++covered[i * n + j];
        }
        table().f32(product_of(s, a, rows(m, k), packed.get(), c, static_cast<ptrdiff_t>(n)), tile,
                    scratch.get());
      }
      EXPECT_TRUE(std::all_of(covered.begin(), covered.end(), [](int x) { return x == 1; }))
          << m << " " << n << " in " << parts;
      EXPECT_EQ(first_difference(c, want), "") << m << " " << n << " in " << parts;
    }
    const size_t parts = matmul_parts(table(), m, n, k, 8);
    EXPECT_GE(parts, 1U);
    EXPECT_LE(parts, 8U);
  }
}

// The judge is long double. The bound of each element is the usual one for block sums, (64 + k /
// 64) ulp of the sum of magnitudes; over all, blocks of 64 must beat one running sum clearly.
TEST_P(Matmul, IsCloseToLongDouble) {
  Seeded seeded(6);
  const size_t m = 6, n = 20, k = 1536;
  const std::vector<float> a = seeded.units(m * k);
  const std::vector<float> b = seeded.units(n * k);
  std::vector<float> c(m * n);
  Aligned<char> scratch(table().scratch_bytes(k));
  MatmulPlainF32 product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.a = a.data();
  product.a_row = k;
  product.b = b.data();
  product.b_row = 1;
  product.b_col = k;
  product.c = c.data();
  product.c_row = n;
  table().plain_f32(product, {0, m, 0, n}, scratch.get());
  double square = 0.0;
  double running_square = 0.0;
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      long double sum = 0.0L;
      long double magnitude = 0.0L;
      float running = 0.0F;
      for (size_t x = 0; x < k; ++x) {
        const long double step = static_cast<long double>(a[i * k + x]) * b[j * k + x];
        sum += step;
        magnitude += std::fabs(step);
        running = std::fma(a[i * k + x], b[j * k + x], running);
      }
      const long double error = std::fabs(c[i * n + j] - sum);
      EXPECT_LT(error, (64 + k / 64) * 0x1p-24L * magnitude);
      square += static_cast<double>(error * error);
      running_square += static_cast<double>((running - sum) * (running - sum));
    }
  }
  EXPECT_LT(std::sqrt(square), 0.5 * std::sqrt(running_square));
}

INSTANTIATE_TEST_SUITE_P(Isa, Matmul,
                         testing::ValuesIn(available_kernel_tables().begin(),
                                           available_kernel_tables().end()),
                         table_name);

TEST(MatmulParts, SmallWorkStaysWhole) {
  const MatmulKernels& table = kernels().matmul;
  EXPECT_EQ(matmul_parts(table, 4, 32, 64, 8), 1U);
  EXPECT_EQ(matmul_parts(table, 512, 384, 384, 8), 8U);
  EXPECT_EQ(matmul_parts(table, 0, 384, 384, 8), 1U);
}

}  // namespace
}  // namespace capra::kernels
