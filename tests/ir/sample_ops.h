// A few records that the tests of ir use, so that they depend on no op of the library.
#pragma once

#include "capra/ir/op_def.h"

namespace capra::sample {

struct ConstantAttrs {
  Array value;
  static constexpr auto fields() {
    return std::tuple{Field{"value", &ConstantAttrs::value, "type and elements"}};
  }
};

/// One attribute of each kind.
struct EverythingAttrs {
  bool flag = true;
  int64_t count = -3;
  double rate = 0.1;
  std::string word = "a \"b\"\n";
  DType kind = DType::BF16;
  std::vector<int64_t> list = {1, -2};
  Shape box = {Dim("tokens"), Dim(4)};
  Array data = Array::scalar(DType::F16, 0.1);
  static constexpr auto fields() {
    return std::tuple{Field{"flag", &EverythingAttrs::flag, "a bool"},
                      Field{"count", &EverythingAttrs::count, "an int"},
                      Field{"rate", &EverythingAttrs::rate, "a float"},
                      Field{"word", &EverythingAttrs::word, "a string"},
                      Field{"kind", &EverythingAttrs::kind, "a dtype"},
                      Field{"list", &EverythingAttrs::list, "ints"},
                      Field{"box", &EverythingAttrs::box, "a shape"},
                      Field{"data", &EverythingAttrs::data, "an array"}};
  }
};

struct JoinAttrs {
  int64_t axis = 0;
  static constexpr auto fields() { return std::tuple{Field{"axis", &JoinAttrs::axis, "not used"}}; }
};

struct ViewAttrs {
  Shape shape;
  static constexpr auto fields() {
    return std::tuple{Field{"shape", &ViewAttrs::shape, "of the result"}};
  }
};

extern const OpDef kConstant;    ///< no operands
extern const OpDef kEverything;  ///< x
extern const OpDef kJoin;        ///< parts..., all of one type
extern const OpDef kLerp;        ///< a, b, weight?, bias?; all of one type
extern const OpDef kMul;         ///< a, b; broadcast
extern const OpDef kNeg;         ///< x; floats
extern const OpDef kSelect;      ///< condition, a, b
extern const OpDef kView;        ///< x

OpSet ops();

inline Tensor neg(const Tensor& x) { return apply(kNeg, {x}, {}); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return apply(kMul, {a, b}, {}); }

}  // namespace capra::sample
