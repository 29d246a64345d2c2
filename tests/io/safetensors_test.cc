// Safetensors: one broken file for each rule of the format, and what is legal although it looks
// odd.
#include "capra/io/safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "capra/base/half.h"
#include "tests/base/temp_folder.h"

namespace capra {
namespace {

// The length of the header as the format wants it, then the header, then the data.
std::string file_of(const std::string& header, const std::string& data, int64_t length = -1) {
  const auto size = length < 0 ? header.size() : static_cast<uint64_t>(length);
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(size >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

Result<SafetensorsFile> parse(const std::string& bytes) {
  auto buffer = Buffer::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return SafetensorsFile::parse(buffer, "f.safetensors");
}

std::string code_of(const std::string& bytes) {
  const auto file = parse(bytes);
  return file.ok() ? "ok" : file.error().code;
}

const std::string kFour(4, '\x01');
const std::string kEight(8, '\x01');

struct Rule {
  const char* rule;
  std::string bytes;
  const char* code;
};

std::vector<Rule> rules() {
  const std::string good = entry("a", "F32", "[1]", "[0,4]");
  return {
      {"a file has at least 8 bytes", "", "safetensors-truncated"},
      {"a length needs all its bytes", std::string("\x02\0\0\0\0\0\0", 7), "safetensors-truncated"},
      {"the header is not longer than the file", file_of("{}", "", 3), "safetensors-truncated"},
      {"the header has at most 100,000,000 bytes", file_of("{}", "", 100'000'001),
       "safetensors-header"},
      {"a length is unsigned and not that large", std::string(8, '\xff') + "{}",
       "safetensors-header"},
      {"a length is little-endian", std::string("\0\0\0\0\0\0\0\x02{}", 10), "safetensors-header"},
      {"the header is not empty", file_of("", ""), "safetensors-header"},
      {"the header begins with a brace", file_of(" {}", ""), "safetensors-header"},
      {"the header is an object", file_of("[]", ""), "safetensors-header"},
      {"padding is spaces", file_of("{}\n", ""), "safetensors-header"},
      {"padding is not zeros", file_of(std::string("{}\0\0", 4), ""), "safetensors-header"},
      {"the header is JSON", file_of("{" + good + ",}", kFour), "json-syntax"},
      {"the header is UTF-8", file_of("{\"\xff\":1}", ""), "json-syntax"},
      {"names are unique",
       file_of("{" + good + "," + entry("a", "F32", "[1]", "[4,8]") + "}", kEight),
       "json-duplicate-key"},
      {"an entry is an object", file_of("{\"a\":[0,4]}", kFour), "safetensors-header"},
      {"an entry has a dtype", file_of("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", kFour),
       "safetensors-header"},
      {"an entry has a shape", file_of("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", kFour),
       "safetensors-header"},
      {"an entry has offsets", file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", kFour),
       "safetensors-header"},
      {"a dtype is known", file_of("{" + entry("a", "F13", "[1]", "[0,4]") + "}", kFour),
       "safetensors-dtype"},
      {"a dtype has a counterpart here",
       file_of("{" + entry("a", "F8_E4M3", "[4]", "[0,4]") + "}", kFour), "safetensors-dtype"},
      {"sub-byte dtypes have none", file_of("{" + entry("a", "F4", "[8]", "[0,4]") + "}", kFour),
       "safetensors-dtype"},
      {"a dtype is spelled in capitals",
       file_of("{" + entry("a", "f32", "[1]", "[0,4]") + "}", kFour), "safetensors-dtype"},
      {"a dtype is a string",
       file_of("{\"a\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", kFour),
       "safetensors-header"},
      {"a shape is an array", file_of("{" + entry("a", "F32", "1", "[0,4]") + "}", kFour),
       "safetensors-header"},
      {"extents are not negative", file_of("{" + entry("a", "F32", "[-1]", "[0,4]") + "}", kFour),
       "safetensors-shape"},
      {"extents are integers", file_of("{" + entry("a", "F32", "[1.0]", "[0,4]") + "}", kFour),
       "safetensors-shape"},
      {"extents fit in 63 bits",
       file_of("{" + entry("a", "U8", "[9223372036854775808]", "[0,4]") + "}", kFour),
       "safetensors-shape"},
      // 2^32 * 2^32 wraps to 0, 2^62 * 4 bytes wraps to 0, (2^32 + 1)^2 wraps to 2^33 + 1.
      {"products do not wrap to nothing",
       file_of("{" + entry("a", "U8", "[4294967296,4294967296]", "[0,0]") + "}", ""),
       "safetensors-shape"},
      {"bytes do not wrap",
       file_of("{" + entry("a", "F32", "[4611686018427387904]", "[0,0]") + "}", ""),
       "safetensors-shape"},
      {"products do not wrap to something",
       file_of("{" + entry("a", "U8", "[4294967297,4294967297]", "[0,8589934593]") + "}", kEight),
       "safetensors-shape"},
      {"products do not wrap before a zero",
       file_of("{" + entry("a", "U8", "[9223372036854775807,2,0]", "[0,0]") + "}", ""),
       "safetensors-shape"},
      {"the data have the size of the shape",
       file_of("{" + entry("a", "F32", "[1000,1000]", "[0,4]") + "}", kFour), "safetensors-size"},
      {"the data are not larger than the shape",
       file_of("{" + entry("a", "F32", "[1]", "[0,8]") + "}", kEight), "safetensors-size"},
      {"offsets are two", file_of("{" + entry("a", "F32", "[1]", "[0,4,4]") + "}", kFour),
       "safetensors-header"},
      {"offsets are not negative",
       file_of("{" + entry("a", "F32", "[1]", "[-16,-12]") + "}", kFour), "safetensors-header"},
      {"offsets are integers", file_of("{" + entry("a", "F32", "[1]", "[0,4.0]") + "}", kFour),
       "safetensors-header"},
      {"offsets lie in the file",
       file_of("{" + entry("a", "F32", "[1]", "[1099511627776,1099511627780]") + "}", kFour),
       "safetensors-truncated"},
      {"offsets do not go backwards", file_of("{" + entry("a", "F32", "[1]", "[4,0]") + "}", kFour),
       "safetensors-layout"},
      {"data begin at 0", file_of("{" + entry("a", "F32", "[1]", "[4,8]") + "}", kEight),
       "safetensors-layout"},
      {"data have no hole",
       file_of("{" + good + "," + entry("b", "F32", "[1]", "[8,12]") + "}", kEight + kFour),
       "safetensors-layout"},
      {"data do not overlap",
       file_of(
           "{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[2]", "[4,12]") + "}",
           kEight + kFour),
       "safetensors-layout"},
      {"data are not shared",
       file_of("{" + good + "," + entry("b", "F32", "[1]", "[0,4]") + "}", kFour),
       "safetensors-layout"},
      {"the last tensor ends the file", file_of("{" + good + "}", kEight), "safetensors-layout"},
      {"a file without tensors has no data", file_of("{}", kFour), "safetensors-layout"},
      {"the data are all there", file_of("{" + good + "}", "\x01\x01\x01"),
       "safetensors-truncated"},
      {"metadata are an object", file_of("{\"__metadata__\":[]}", ""), "safetensors-metadata"},
      {"metadata are strings", file_of("{\"__metadata__\":{\"format\":1}}", ""),
       "safetensors-metadata"},
      {"metadata are not null", file_of("{\"__metadata__\":{\"format\":null}}", ""),
       "safetensors-metadata"},
  };
}

TEST(Safetensors, EveryRuleHasAFileThatBreaksIt) {
  for (const Rule& rule : rules()) EXPECT_EQ(code_of(rule.bytes), rule.code) << rule.rule;
}

TEST(Safetensors, ErrorsNameFileAndTensor) {
  const auto file = parse(file_of("{" + entry("w\\n", "F13", "[1]", "[0,4]") + "}", kFour));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().at, "f.safetensors: tensor \"w\\n\"");
  EXPECT_NE(file.error().message.find("\"F13\""), std::string::npos);
  EXPECT_FALSE(file.error().help.empty());
}

TEST(Safetensors, OddButLegalFilesOpen) {
  EXPECT_EQ(code_of(file_of("{}", "")), "ok");
  EXPECT_EQ(code_of(file_of("{}      ", "")), "ok");
  EXPECT_EQ(code_of(file_of("{\"__metadata__\":{}}", "")), "ok");
  EXPECT_EQ(code_of(file_of("{" + entry("scalar", "F32", "[]", "[0,4]") + "}", kFour)), "ok");
  EXPECT_EQ(code_of(file_of("{" + entry("none", "F32", "[0,7]", "[0,0]") + "}", "")), "ok");
  // An empty tensor may stand at a place where another begins or ends.
  EXPECT_EQ(code_of(file_of("{" + entry("b", "F32", "[1]", "[0,4]") + "," +
                                entry("a", "F32", "[0]", "[0,0]") + "," +
                                entry("c", "F32", "[0]", "[4,4]") + "}",
                            kFour)),
            "ok");
  // The entries need not be in the order of their data.
  EXPECT_EQ(code_of(file_of("{" + entry("b", "F32", "[1]", "[4,8]") + "," +
                                entry("a", "F32", "[1]", "[0,4]") + "}",
                            kEight)),
            "ok");
}

TEST(Safetensors, EveryDtypeIsReadAndWritten) {
  std::map<std::string, Array> arrays;
  for (const DType dtype : all_dtypes()) {
    Array array = Array::zeros(dtype, {3});
    array.set(1, 1.0);
    arrays.emplace(std::string(dtype_name(dtype)), array);
  }
  const auto file = parse(safetensors_bytes(arrays));
  ASSERT_TRUE(file.ok()) << to_text(file.error());
  ASSERT_EQ(file->tensors().size(), arrays.size());
  for (const auto& [name, array] : arrays) {
    const auto back = file->array(name);
    ASSERT_TRUE(back.ok()) << name;
    EXPECT_TRUE(*back == array) << name;
  }
}

TEST(Safetensors, MisalignedDataAreCopied) {
  // One byte, then doubles: legal, and no double may be read there in place.
  const double values[] = {1.5, -0.0, std::numeric_limits<double>::quiet_NaN()};
  std::string data(1, '\x01');
  data.append(reinterpret_cast<const char*>(values), sizeof values);
  const auto file = parse(file_of(
      "{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "F64", "[3]", "[1,25]") + "}",
      data));
  ASSERT_TRUE(file.ok()) << to_text(file.error());
  const auto array = file->array("b");
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data()) % alignof(double), 0u);
  EXPECT_EQ(std::memcmp(array->data(), values, sizeof values), 0);
}

TEST(Safetensors, AlignedDataAreShared) {
  auto buffer = Buffer::allocate(8 + 64 + 8);
  const std::string header = "{" + entry("a", "F32", "[2]", "[0,8]") + "}";
  const std::string bytes = file_of(header + std::string(64 - header.size(), ' '), kEight);
  std::memcpy(buffer->data(), bytes.data(), bytes.size());
  const auto file = SafetensorsFile::parse(buffer, "f");
  ASSERT_TRUE(file.ok()) << to_text(file.error());
  EXPECT_EQ(file->array("a")->data(), buffer->data() + 72);
}

TEST(Safetensors, ArraysOutliveTheFile) {
  TempFolder folder;
  const float value = 2.5f;
  ASSERT_TRUE(write_safetensors(folder.path() + "/m.safetensors",
                                {{"x", Array::of<float>(DType::F32, {1}, std::span(&value, 1))}},
                                {{"format", "pt"}})
                  .ok());
  Array array;
  {
    const auto file = SafetensorsFile::open(folder.path() + "/m.safetensors");
    ASSERT_TRUE(file.ok()) << to_text(file.error());
    EXPECT_EQ(file->metadata().at("format"), "pt");
    array = *file->array("x");
  }
  EXPECT_EQ(array.as<float>()[0], 2.5f);
}

TEST(Safetensors, BoolsAreZeroOrOne) {
  const std::string header = "{" + entry("m", "BOOL", "[3]", "[0,3]") + "}";
  EXPECT_TRUE(parse(file_of(header, std::string("\0\x01\0", 3)))->array("m").ok());
  const auto file = parse(file_of(header, std::string("\0\x02\0", 3)));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->array("m").error().code, "safetensors-bool");
}

TEST(Safetensors, MissingTensorAndFileAreNamed) {
  EXPECT_EQ(parse(file_of("{}", ""))->array("w").error().code, "tensor-missing");
  EXPECT_EQ(SafetensorsFile::open("no/such.safetensors").error().code, "file-not-found");
}

// The golden files were written by the reference implementation, safetensors 0.8.0 for Python.
TEST(Safetensors, WritesTheBytesOfTheReferenceWriter) {
  for (const char* name : {"embeddings", "hidden"}) {
    const std::string path =
        std::string(CAPRA_SOURCE_DIR) + "/tests/golden/minilm/" + name + ".safetensors";
    const auto file = SafetensorsFile::open(path);
    ASSERT_TRUE(file.ok()) << to_text(file.error());
    std::map<std::string, Array> arrays;
    for (const SafetensorsEntry& tensor : file->tensors())
      arrays.emplace(tensor.name, *file->array(tensor.name));
    EXPECT_TRUE(safetensors_bytes(arrays, file->metadata()) == *read_file(path)) << name;
  }
}

// Made with safetensors 0.8.0 for Python: {"b": i16 [1], "a": bool [1], "d": f64 scalar, "c": bf16
// [1]}, metadata k = v.
TEST(Safetensors, OrdersMixedDtypesAsTheReferenceWriter) {
  const int16_t b = 5;
  const uint8_t a = 1;
  const double d = 1.0;
  const uint16_t c = 0x3f80;
  const std::string bytes =
      safetensors_bytes({{"b", Array::of<int16_t>(DType::I16, {1}, std::span(&b, 1))},
                         {"a", Array::of<uint8_t>(DType::Bool, {1}, std::span(&a, 1))},
                         {"d", Array::of<double>(DType::F64, {}, std::span(&d, 1))},
                         {"c", Array::of<uint16_t>(DType::BF16, {1}, std::span(&c, 1))}},
                        {{"k", "v"}});
  const std::string expected =
      std::string("\xf8\x00\x00\x00\x00\x00\x00\x00", 8) +
      R"({"__metadata__":{"k":"v"},"d":{"dtype":"F64","shape":[],"data_offsets":[0,8]},"c":{"dtype":"BF16","shape":[1],"data_offsets":[8,10]},"b":{"dtype":"I16","shape":[1],"data_offsets":[10,12]},"a":{"dtype":"BOOL","shape":[1],"data_offsets":[12,13]}}    )" +
      std::string("\x00\x00\x00\x00\x00\x00\xf0\x3f\x80\x3f\x05\x00\x01", 13);
  EXPECT_EQ(bytes, expected);
}

TEST(Safetensors, WideningIsExact) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const DType dtype : {DType::F16, DType::BF16}) {
    const auto wide = widen_to_f32(Array::of<uint16_t>(dtype, {65536}, all));
    ASSERT_TRUE(wide.ok());
    int wrong = 0;
    for (uint32_t i = 0; i < 65536; ++i) {
      // From the definition of the formats (IEEE 754-2019, 3.4): sign, exponent, fraction.
      const int fraction_bits = dtype == DType::F16 ? 10 : 7;
      const int exponent_bits = 15 - fraction_bits;
      const int bias = (1 << (exponent_bits - 1)) - 1;
      const auto fraction = static_cast<double>(i & ((1u << fraction_bits) - 1));
      const int exponent = static_cast<int>(i >> fraction_bits & ((1u << exponent_bits) - 1));
      const double sign = (i & 0x8000u) != 0 ? -1.0 : 1.0;
      const float value = wide->as<float>()[i];
      if (exponent == (1 << exponent_bits) - 1) {
        wrong += fraction != 0 ? !std::isnan(value)
                               : value != sign * std::numeric_limits<float>::infinity();
        continue;
      }
      const double significand =
          exponent == 0 ? fraction : fraction + static_cast<double>(1 << fraction_bits);
      const double exact =
          sign * std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
      wrong += static_cast<double>(value) != exact || std::signbit(value) != std::signbit(sign);
    }
    EXPECT_EQ(wrong, 0) << dtype_name(dtype);
  }
  EXPECT_EQ(widen_to_f32(Array::zeros(DType::F64, {1})).error().code, "weights-dtype");
  const Array same = Array::zeros(DType::F32, {2});
  EXPECT_EQ(widen_to_f32(same)->data(), same.data());
}

}  // namespace
}  // namespace capra
