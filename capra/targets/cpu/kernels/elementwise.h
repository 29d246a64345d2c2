// Elementwise kernels: unary, binary, compare, select and conversion, with NumPy broadcasting.
// f32 with a contiguous inner dimension is vectorized through the table; the rest are portable
// loops. f16 and bf16 widen to f32, compute there and round once an op; integers wrap.
#pragma once

#include <cstdint>

#include "capra/targets/cpu/kernels/element.h"

namespace capra::kernels {

struct KernelTable;

/// Neg, Abs: floats and integers (Neg of unsigned wraps). Not: bool, and bitwise for integers.
/// Relu: floats and integers (a NaN stays; -0 gives +0). The rest: floats.
enum class UnaryOp : uint8_t {
  Neg,
  Abs,
  Not,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Tanh,
  Erf,
  Erfc,
  GeluExact,
  GeluTanh,
  Sigmoid,
  Silu,
  Relu,
};

/// Add, Sub, Mul, Div, Min, Max: floats and integers. Integer Div truncates; by zero it gives 0,
/// and the least value by -1 wraps. Min, Max: any NaN gives NaN, -0 < +0; they take bool as well.
/// And, Or: bool and, bitwise, integers.
enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Min, Max, And, Or };

/// IEEE comparisons (a NaN is unequal to everything and unordered); any type.
enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// Whether the op has a meaning for the type; the calls below require it.
bool unary_supports(UnaryOp op, Element type);
bool binary_supports(BinaryOp op, Element type);

/// One instruction set's f32 rows. A step is 1, or 0 for an operand that is one element for the
/// whole row. y may be x, or an operand of step 1.
struct ElementwiseKernels {
  void (*unary_f32)(UnaryOp op, const float* x, float* y, int64_t n) = nullptr;
  void (*binary_f32)(BinaryOp op, const float* a, int64_t a_step, const float* b, int64_t b_step,
                     float* y, int64_t n) = nullptr;
};

/// y[i] = op(x[i]) for the `n` contiguous elements; y may be x.
void unary(const KernelTable& table, UnaryOp op, Element type, const void* x, void* y, int64_t n);

/// out = op(a, b), elements `range` of a contiguous output of `rank` <= kMaxRank `dims`.
/// out may be an operand that has the same layout.
void binary(const KernelTable& table, BinaryOp op, Element type, Strided a, Strided b, void* out,
            int rank, const int64_t* dims, Range range);

/// As `binary`; out is bool.
void compare(const KernelTable& table, CompareOp op, Element type, Strided a, Strided b, void* out,
             int rank, const int64_t* dims, Range range);

/// out = condition ? a : b; condition is bool, a, b and out are of `type`. Bits are copied.
void select(const KernelTable& table, Element type, Strided condition, Strided a, Strided b,
            void* out, int rank, const int64_t* dims, Range range);

/// Converts `n` contiguous elements. Float to float rounds once to nearest even; float to integer
/// truncates and saturates, NaN gives 0; integer to integer wraps; integer to float rounds once; to
/// bool is x != 0 (NaN is true); bool gives 0 or 1.
void convert(Element from, const void* x, Element to, void* y, int64_t n);

}  // namespace capra::kernels
