// The instructions of the GA-2 chip: what each is called, its fields with their widths, and how
// long it takes. Everything that prints, parses, encodes or checks instructions goes by these
// records.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <variant>

namespace capra::ga2 {

/// Words of the scratchpad, each of 32 bits.
inline constexpr int64_t kScratchpadWords = 4096;
/// Most rows and columns of a product: those of the systolic array.
inline constexpr int64_t kTile = 4;
/// Most terms of each sum of a product.
inline constexpr int64_t kMostInner = 64;
/// Values of 4 bits in a packed word.
inline constexpr int64_t kPackedValues = 8;

/// The words that hold so many values of 4 bits.
constexpr int64_t packed_words(int64_t values) {
  return (values + kPackedValues - 1) / kPackedValues;
}

/// A number that is not negative as the value of a field.
inline uint32_t word(int64_t value) { return static_cast<uint32_t>(value); }

/// One field of an instruction. Values are unsigned and take `bits` bits in the word.
template <class T>
struct Field {
  std::string_view name;
  uint32_t T::* member;
  int bits;
};

/// Bits of an address in the scratchpad, of a count of its words, and of an address in external
/// memory.
inline constexpr int kAddressBits = 12;
inline constexpr int kCountBits = 13;
inline constexpr int kExternalBits = 24;

// In each record, `fields()` has the printed order. The place of a record in `Instruction` is its
// opcode.

/// Stops.
struct Halt {
  static constexpr std::string_view kMnemonic = "HALT";
  static constexpr auto fields() { return std::tuple<>(); }
  bool operator==(const Halt&) const = default;
};

/// spad[dst + i] = ext[src + i] for i < len.
struct Load {
  uint32_t dst = 0, src = 0, len = 0;
  static constexpr std::string_view kMnemonic = "LD";
  static constexpr auto fields() {
    return std::tuple{Field<Load>{"dst", &Load::dst, kAddressBits},
                      Field<Load>{"src", &Load::src, kExternalBits},
                      Field<Load>{"len", &Load::len, kCountBits}};
  }
  bool operator==(const Load&) const = default;
};

/// ext[dst + i] = spad[src + i] for i < len.
struct Store {
  uint32_t src = 0, dst = 0, len = 0;
  static constexpr std::string_view kMnemonic = "ST";
  static constexpr auto fields() {
    return std::tuple{Field<Store>{"src", &Store::src, kAddressBits},
                      Field<Store>{"dst", &Store::dst, kExternalBits},
                      Field<Store>{"len", &Store::len, kCountBits}};
  }
  bool operator==(const Store&) const = default;
};

/// spad[dst + r ldc + c] = sum over t < k of s8(spad[a + r lda + t]) s8(b), for r < m and c < n;
/// b is spad[b + t ldb + c], or spad[b + c ldb + t] where tb is 1. Sums are int32.
struct Multiply {
  uint32_t dst = 0, a = 0, b = 0, m = 0, k = 0, n = 0, tb = 0, lda = 0, ldb = 0, ldc = 0;
  static constexpr std::string_view kMnemonic = "MM";
  static constexpr auto fields() {
    return std::tuple{Field<Multiply>{"dst", &Multiply::dst, kAddressBits},
                      Field<Multiply>{"A", &Multiply::a, kAddressBits},
                      Field<Multiply>{"B", &Multiply::b, kAddressBits},
                      Field<Multiply>{"M", &Multiply::m, 3},
                      Field<Multiply>{"K", &Multiply::k, 7},
                      Field<Multiply>{"N", &Multiply::n, 3},
                      Field<Multiply>{"tb", &Multiply::tb, 1},
                      Field<Multiply>{"lda", &Multiply::lda, kCountBits},
                      Field<Multiply>{"ldb", &Multiply::ldb, kCountBits},
                      Field<Multiply>{"ldc", &Multiply::ldc, kCountBits}};
  }
  bool operator==(const Multiply&) const = default;
};

/// spad[dst + i] = s32(spad[src + i]) m / 2^s for i < len, to the nearest integer, halves away from
/// zero, clamped to [-127, 127]; where relu is 1, at least 0.
struct Requantize {
  uint32_t dst = 0, src = 0, len = 0, m = 0, s = 0, relu = 0;
  static constexpr std::string_view kMnemonic = "RQ";
  static constexpr auto fields() {
    return std::tuple{Field<Requantize>{"dst", &Requantize::dst, kAddressBits},
                      Field<Requantize>{"src", &Requantize::src, kAddressBits},
                      Field<Requantize>{"len", &Requantize::len, kCountBits},
                      Field<Requantize>{"m", &Requantize::m, 24},
                      Field<Requantize>{"s", &Requantize::s, 6},
                      Field<Requantize>{"relu", &Requantize::relu, 1}};
  }
  bool operator==(const Requantize&) const = default;
};

/// The softmax of one row of s8 in Q4.4: fractions of 16 bits, 65536 for 1.
struct Softmax {
  uint32_t dst = 0, src = 0, len = 0;
  static constexpr std::string_view kMnemonic = "SM";
  static constexpr auto fields() {
    return std::tuple{Field<Softmax>{"dst", &Softmax::dst, kAddressBits},
                      Field<Softmax>{"src", &Softmax::src, kAddressBits},
                      Field<Softmax>{"len", &Softmax::len, kCountBits}};
  }
  bool operator==(const Softmax&) const = default;
};

/// spad[dst + i] = s8(spad[src1 + i]) + s8(spad[src2 + i]) for i < len, clamped to [-127, 127].
struct Add {
  uint32_t dst = 0, src1 = 0, src2 = 0, len = 0;
  static constexpr std::string_view kMnemonic = "VADD";
  static constexpr auto fields() {
    return std::tuple{
        Field<Add>{"dst", &Add::dst, kAddressBits}, Field<Add>{"src1", &Add::src1, kAddressBits},
        Field<Add>{"src2", &Add::src2, kAddressBits}, Field<Add>{"len", &Add::len, kCountBits}};
  }
  bool operator==(const Add&) const = default;
};

/// spad[dst] = index of the first maximum of the row of s8.
struct Argmax {
  uint32_t dst = 0, src = 0, len = 0;
  static constexpr std::string_view kMnemonic = "AMAX";
  static constexpr auto fields() {
    return std::tuple{Field<Argmax>{"dst", &Argmax::dst, kAddressBits},
                      Field<Argmax>{"src", &Argmax::src, kAddressBits},
                      Field<Argmax>{"len", &Argmax::len, kCountBits}};
  }
  bool operator==(const Argmax&) const = default;
};

/// len packed words of eight values of 4 bits become 8 len words; value j stands in bits 4j to
/// 4j+3.
struct Unpack {
  uint32_t dst = 0, src = 0, len = 0;
  static constexpr std::string_view kMnemonic = "UNPACK";
  static constexpr auto fields() {
    return std::tuple{Field<Unpack>{"dst", &Unpack::dst, kAddressBits},
                      Field<Unpack>{"src", &Unpack::src, kAddressBits},
                      Field<Unpack>{"len", &Unpack::len, kCountBits}};
  }
  bool operator==(const Unpack&) const = default;
};

/// One instruction; the index is the opcode.
using Instruction =
    std::variant<Halt, Load, Store, Multiply, Requantize, Softmax, Add, Argmax, Unpack>;

/// What a run costs, as the chip counts it.
struct Counters {
  int64_t total = 0;         ///< cycles from the first fetch to the stop
  int64_t matrix = 0;        ///< cycles in which the matrix unit works
  int64_t transfer = 0;      ///< the same of loads and stores
  int64_t vector = 0;        ///< the same of all other units
  int64_t instructions = 0;  ///< without the one that stops
  bool operator==(const Counters&) const = default;
  Counters& operator+=(const Counters& other);
};

/// What one instruction adds to the counters. Every instruction takes 2 cycles to be fetched and
/// dispatched, which no unit counts.
Counters cost(const Instruction& instruction);
/// What a whole program adds, one that begins with its first instruction and runs to its last.
Counters cost(std::span<const Instruction> program);

}  // namespace capra::ga2
