// dtypes, shapes, attributes and arrays.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "capra/base/half.h"
#include "capra/ir/array.h"
#include "capra/ir/attrs.h"
#include "capra/ir/op_def.h"
#include "tests/ir/sample_ops.h"

namespace capra {
namespace {

TEST(DTypes, AreTheThirteenOfTheContract) {
  struct Row {
    DType dtype;
    const char* name;
    size_t bytes;
    bool real;
    bool integer;
    bool signed_integer;
  };
  const Row rows[] = {
      {DType::F64, "f64", 8, true, false, false},    {DType::F32, "f32", 4, true, false, false},
      {DType::F16, "f16", 2, true, false, false},    {DType::BF16, "bf16", 2, true, false, false},
      {DType::I64, "i64", 8, false, true, true},     {DType::I32, "i32", 4, false, true, true},
      {DType::I16, "i16", 2, false, true, true},     {DType::I8, "i8", 1, false, true, true},
      {DType::U64, "u64", 8, false, true, false},    {DType::U32, "u32", 4, false, true, false},
      {DType::U16, "u16", 2, false, true, false},    {DType::U8, "u8", 1, false, true, false},
      {DType::Bool, "bool", 1, false, false, false},
  };
  ASSERT_EQ(all_dtypes().size(), std::size(rows));
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    EXPECT_EQ(all_dtypes()[i], row.dtype);
    EXPECT_EQ(dtype_name(row.dtype), row.name);
    EXPECT_EQ(parse_dtype(row.name), row.dtype);
    EXPECT_EQ(dtype_bytes(row.dtype), row.bytes) << row.name;
    EXPECT_EQ(is_float(row.dtype), row.real) << row.name;
    EXPECT_EQ(is_integer(row.dtype), row.integer) << row.name;
    EXPECT_EQ(is_signed_integer(row.dtype), row.signed_integer) << row.name;
  }
  EXPECT_EQ(parse_dtype("f8"), std::nullopt);
  EXPECT_EQ(parse_dtype("F32"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(Shapes, TextElementsAndBinding) {
  const Shape shape{Dim("tokens"), 384};
  EXPECT_EQ(shape.text(), "[tokens, 384]");
  EXPECT_EQ(Shape().text(), "[]");
  EXPECT_EQ((TensorType{DType::BF16, shape}).text(), "bf16[tokens, 384]");
  EXPECT_FALSE(shape.is_static());
  EXPECT_EQ(shape.elements(), std::nullopt);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ((Shape{3, 0, 5}).elements(), 0);
  EXPECT_EQ((Shape{int64_t{1} << 40, int64_t{1} << 40}).elements(), std::nullopt);
  EXPECT_EQ((Shape{int64_t{1} << 40, int64_t{1} << 40, 0}).elements(), 0);

  const Result<Shape> bound = shape.bind({{"tokens", 7}});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->text(), "[7, 384]");
  const Result<Shape> unbound = shape.bind({{"other", 7}});
  ASSERT_FALSE(unbound.ok());
  EXPECT_EQ(unbound.error().code, "symbol-unbound");
}

TEST(Shapes, MemoryIsCountedIn63Bits) {
  EXPECT_TRUE(fits_memory({DType::U8, {std::numeric_limits<int64_t>::max()}}));
  EXPECT_FALSE(fits_memory({DType::F32, {std::numeric_limits<int64_t>::max()}}));
  EXPECT_FALSE(fits_memory({DType::U8, {int64_t{1} << 40, int64_t{1} << 40, 0}}));
  EXPECT_TRUE(fits_memory({DType::F64, {Dim("tokens"), 0, 8}}));
}

// Rules of NumPy 2.4's broadcasting; symbols meet themselves or 1.
TEST(Shapes, Broadcast) {
  struct Case {
    Shape a, b;
    const char* result;
  };
  const Case cases[] = {
      {{}, {}, "[]"},
      {{}, {2, 3}, "[2, 3]"},
      {{3}, {2, 3}, "[2, 3]"},
      {{2, 1}, {3}, "[2, 3]"},
      {{1}, {0}, "[0]"},
      {{5, 1, 3}, {4, 1}, "[5, 4, 3]"},
      {{Dim("t"), 1}, {4}, "[t, 4]"},
      {{Dim("t")}, {1}, "[t]"},
      {{Dim("t")}, {Dim("t")}, "[t]"},
  };
  for (const Case& one : cases) {
    const Result<Shape> ab = broadcast_shapes(one.a, one.b);
    const Result<Shape> ba = broadcast_shapes(one.b, one.a);
    ASSERT_TRUE(ab.ok() && ba.ok()) << one.result;
    EXPECT_EQ(ab->text(), one.result);
    EXPECT_EQ(ba->text(), one.result);
  }
  const std::pair<Shape, Shape> refused[] = {
      {{2}, {3}}, {{0}, {2}}, {{2, 3}, {2}}, {{Dim("t")}, {2}}, {{Dim("t")}, {Dim("u")}}};
  for (const auto& [a, b] : refused) {
    const Result<Shape> result = broadcast_shapes(a, b);
    ASSERT_FALSE(result.ok()) << a.text() << b.text();
    EXPECT_EQ(result.error().code, "operand-shape");
  }
}

TEST(Shapes, AxesCountFromBothEnds) {
  EXPECT_EQ(*normalize_axis(0, 3), 0);
  EXPECT_EQ(*normalize_axis(-1, 3), 2);
  EXPECT_EQ(*normalize_axis(-3, 3), 0);
  for (const int64_t axis : {int64_t{3}, int64_t{-4}, std::numeric_limits<int64_t>::min()}) {
    const Result<int64_t> refused = normalize_axis(axis, 3);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "attribute-invalid");
  }
  EXPECT_FALSE(normalize_axis(0, 0).ok());
}

// --- attributes ---------------------------------------------------------------------------------

TEST(Attrs, PackAndUnpackKeepEveryKind) {
  sample::EverythingAttrs attrs;
  attrs.flag = false;
  attrs.count = std::numeric_limits<int64_t>::min();
  attrs.rate = -0.0;
  attrs.list = {};
  const Attrs values = pack(attrs);
  ASSERT_EQ(values.size(), sample::kEverything.attrs.fields.size());
  const auto back = unpack<sample::EverythingAttrs>(values);
  EXPECT_TRUE(attrs_equal(pack(back), values));
  EXPECT_EQ(back.count, attrs.count);
  EXPECT_TRUE(std::signbit(back.rate));
}

TEST(Attrs, TheSchemaNamesTheFields) {
  const AttrSchema& schema = sample::kEverything.attrs;
  const char* const names[] = {"flag", "count", "rate", "word", "kind", "list", "box", "data"};
  const char* const kinds[] = {"bool", "int", "float", "string", "dtype", "ints", "shape", "array"};
  ASSERT_EQ(schema.fields.size(), std::size(names));
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    EXPECT_EQ(schema.fields[i].name, names[i]);
    EXPECT_EQ(attr_kind_name(schema.fields[i].kind), kinds[i]);
    EXPECT_EQ(attr_index(schema, names[i]), static_cast<int>(i));
  }
  EXPECT_EQ(attr_index(schema, "nothing"), -1);
  EXPECT_TRUE(attrs_equal(schema.defaults(), pack(sample::EverythingAttrs{})));
}

TEST(Attrs, EqualityIsByBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(attrs_equal({nan}, {nan}));
  EXPECT_FALSE(attrs_equal({0.0}, {-0.0}));
  EXPECT_FALSE(attrs_equal({0.0}, {int64_t{0}}));
  EXPECT_FALSE(attrs_equal({true}, {true, true}));
  EXPECT_TRUE(attrs_equal({Array::scalar(DType::F32, 1)}, {Array::scalar(DType::F32, 1)}));
  EXPECT_FALSE(attrs_equal({Array::scalar(DType::F32, 1)}, {Array::scalar(DType::F64, 1)}));
  EXPECT_FALSE(attrs_equal({Array::scalar(DType::F32, 0)}, {Array::scalar(DType::F32, -0.0)}));
}

TEST(Attrs, HashesFollowEquality) {
  EXPECT_EQ(attrs_hash(pack(sample::EverythingAttrs{})),
            attrs_hash(pack(sample::EverythingAttrs{})));
  const Attrs values[] = {{},
                          {true},
                          {false},
                          {int64_t{1}},
                          {1.0},
                          {-0.0},
                          {0.0},
                          {std::string("a")},
                          {std::vector<int64_t>{1}},
                          {Shape{1}},
                          {DType::F32},
                          {Array::scalar(DType::F32, 1)}};
  std::set<uint64_t> hashes;
  for (const Attrs& one : values) hashes.insert(attrs_hash(one));
  EXPECT_EQ(hashes.size(), std::size(values));
}

// --- arrays -------------------------------------------------------------------------------------

TEST(Arrays, ZerosViewsAndSharing) {
  const Array zeros = Array::zeros(DType::I16, {2, 3});
  EXPECT_EQ(zeros.elements(), 6);
  EXPECT_EQ(zeros.byte_size(), 12u);
  for (const int16_t element : zeros.as<int16_t>()) EXPECT_EQ(element, 0);

  const auto buffer = Buffer::allocate(32);
  Array view = Array::view(DType::I32, {2}, buffer, 8);
  view.mutable_as<int32_t>()[1] = 7;
  EXPECT_EQ(static_cast<int>(buffer->data()[12]), 7);
  Array copy = view;
  copy.set_i64(0, 9);
  EXPECT_EQ(view.i64_at(0), 9);
  EXPECT_FALSE(static_cast<bool>(Array()));
  EXPECT_EQ(view.reshaped({1, 2, 1}).type().text(), "i32[1, 2, 1]");
  EXPECT_EQ(Array::zeros(DType::F64, {0, 4}).elements(), 0);
}

TEST(ArraysDeathTest, BrokenUseAborts) {
  const auto buffer = Buffer::allocate(8);
  EXPECT_DEATH(Array::view(DType::I32, {3}, buffer), "check-failed");
  EXPECT_DEATH(Array::view(DType::I32, {1}, buffer, 2), "check-failed");
  EXPECT_DEATH(static_cast<void>(Array::zeros(DType::I8, {2}).i64_at(2)), "check-failed");
  EXPECT_DEATH(static_cast<void>(Array::zeros(DType::I8, {2}).as<int16_t>()), "check-failed");
}

// The rules of conversion: floats to nearest even, integers toward zero and saturating, NaN to 0.
TEST(Arrays, SetRoundsOnce) {
  struct Case {
    DType dtype;
    double value;
    double wanted;
  };
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Case cases[] = {
      {DType::F32, 0.1, 0.1f},
      {DType::F32, 1e300, inf},
      {DType::F16, 65519.99, 65504},
      {DType::F16, 65520, inf},
      {DType::F16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10},  // through f32 it would be a tie
      {DType::BF16, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7},
      {DType::I8, 127.9, 127},
      {DType::I8, 1e9, 127},
      {DType::I8, -1e9, -128},
      {DType::I8, -1.9, -1},
      {DType::U8, -3, 0},
      {DType::U8, 255.5, 255},
      {DType::I32, 2147483647.5, 2147483647},
      {DType::I64, 9.3e18, 9223372036854775807.0},
      {DType::I64, -inf, -9223372036854775808.0},
      {DType::U64, 1e20, 18446744073709551615.0},
      {DType::I32, nan, 0},
      {DType::U64, nan, 0},
      {DType::Bool, nan, 1},
      {DType::Bool, -0.0, 0},
      {DType::Bool, 0.1, 1},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(Array::scalar(one.dtype, one.value).f64_at(0), one.wanted)
        << dtype_name(one.dtype) << " of " << one.value;
  }
  EXPECT_TRUE(std::isnan(Array::scalar(DType::BF16, nan).f64_at(0)));
  EXPECT_EQ(Array::scalar(DType::I64, 9.3e18).i64_at(0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Array::scalar(DType::U64, 1e20).as<uint64_t>()[0],
            std::numeric_limits<uint64_t>::max());
}

TEST(Arrays, SetI64WrapsOrRoundsOnce) {
  const auto stored = [](DType dtype, int64_t value) {
    Array array = Array::zeros(dtype, {});
    array.set_i64(0, value);
    return array;
  };
  EXPECT_EQ(stored(DType::I8, 300).i64_at(0), 44);
  EXPECT_EQ(stored(DType::U16, -1).i64_at(0), 65535);
  EXPECT_EQ(stored(DType::U64, -1).as<uint64_t>()[0], ~uint64_t{0});
  EXPECT_EQ(stored(DType::Bool, 256).i64_at(0), 1);
  const int64_t above_tie = (int64_t{1} << 62) + (int64_t{1} << 54) + 1;  // a tie of bf16, and 1
  EXPECT_EQ(stored(DType::BF16, above_tie).f64_at(0), 0x1p62 + 0x1p55);
  EXPECT_EQ(stored(DType::BF16, above_tie - 1).f64_at(0), 0x1p62);
  const int64_t f32_tie = (int64_t{1} << 62) + (int64_t{1} << 38);
  EXPECT_EQ(stored(DType::F32, f32_tie).f64_at(0), 0x1p62);
  EXPECT_EQ(stored(DType::F32, f32_tie + 1).f64_at(0), 0x1p62 + 0x1p39);
  EXPECT_EQ(stored(DType::F16, -70000).f64_at(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(stored(DType::BF16, -3).f64_at(0), -3);
}

TEST(Arrays, EqualityIsTypeAndBytes) {
  EXPECT_TRUE(Array::scalar(DType::F32, NAN) == Array::scalar(DType::F32, NAN));
  EXPECT_FALSE(Array::scalar(DType::F32, 0.0) == Array::scalar(DType::F32, -0.0));
  EXPECT_FALSE(Array::zeros(DType::F32, {2}) == Array::zeros(DType::F32, {1, 2}));
  EXPECT_FALSE(Array::zeros(DType::F32, {2}) == Array::zeros(DType::I32, {2}));
  EXPECT_TRUE(Array() == Array());
  EXPECT_FALSE(Array() == Array::zeros(DType::F32, {}));
}

// --- records ------------------------------------------------------------------------------------

TEST(Records, AreFoundByName) {
  EXPECT_EQ(find_op(sample::ops(), "mul"), &sample::kMul);
  EXPECT_EQ(find_op(sample::ops(), "view"), &sample::kView);
  EXPECT_EQ(find_op(sample::ops(), "mult"), nullptr);
  EXPECT_EQ(find_op({}, "mul"), nullptr);
  EXPECT_NE(find_op({}, "input"), nullptr);
}

TEST(Records, InferenceNamesTheOpAndItsOperands) {
  const TensorType a{DType::F32, {2}};
  const TensorType b{DType::F32, {3}};
  const TensorType* types[] = {&a, &b};
  const Result<TensorType> result = infer_type(sample::kMul, types, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "mul: shapes [2] and [3] do not broadcast: 2 meets 3");
  EXPECT_EQ(result.error().at, "mul(f32[2], f32[3])");
}

}  // namespace
}  // namespace capra
