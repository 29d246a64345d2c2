// f32 rows of the elementwise ops, for every instruction set.
#include "capra/targets/cpu/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capra/targets/cpu/kernels/elementwise_f32.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/math.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

// A name for each op, so that a loop can take it as a type.
#define CAPRA_UNARY_OP(Name, expr) \
  struct Name {                    \
    template <class V>             \
    static HWY_INLINE V of(V x) {  \
      return expr;                 \
    }                              \
  };
CAPRA_UNARY_OP(NegOp, neg(x))
CAPRA_UNARY_OP(AbsOp, abs(x))
CAPRA_UNARY_OP(ExpOp, exp(x))
CAPRA_UNARY_OP(LogOp, log(x))
CAPRA_UNARY_OP(SqrtOp, sqrt(x))
CAPRA_UNARY_OP(RsqrtOp, rsqrt(x))
CAPRA_UNARY_OP(TanhOp, tanh(x))
CAPRA_UNARY_OP(ErfOp, erf(x))
CAPRA_UNARY_OP(ErfcOp, erfc(x))
CAPRA_UNARY_OP(GeluExactOp, gelu_exact(x))
CAPRA_UNARY_OP(GeluTanhOp, gelu_tanh(x))
CAPRA_UNARY_OP(SigmoidOp, sigmoid(x))
CAPRA_UNARY_OP(SiluOp, silu(x))
CAPRA_UNARY_OP(ReluOp, relu(x))
#undef CAPRA_UNARY_OP

#define CAPRA_BINARY_OP(Name, function) \
  struct Name {                         \
    template <class V>                  \
    static HWY_INLINE V of(V a, V b) {  \
      return function(a, b);            \
    }                                   \
  };
CAPRA_BINARY_OP(AddOp, add)
CAPRA_BINARY_OP(SubOp, sub)
CAPRA_BINARY_OP(MulOp, mul)
CAPRA_BINARY_OP(DivOp, div)
CAPRA_BINARY_OP(MinOp, minimum)
CAPRA_BINARY_OP(MaxOp, maximum)
#undef CAPRA_BINARY_OP

template <class Op>
void unary_row(const float* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) store(Op::of(F32x16::load(x + i)), y + i);
  if (i < n) {
    // The tail takes the same loop: a second copy of the long functions would only cost size.
    const auto rest = static_cast<size_t>(n - i);
    float lanes[16];
    store(F32x16::load_partial(x + i, rest), lanes);
    unary_row<Op>(lanes, lanes, 16);
    store_partial(F32x16::load(lanes), y + i, rest);
  }
}

template <class Op, bool a_varies, bool b_varies>
HWY_INLINE void binary_row(const float* a, const float* b, float* y, int64_t n) {
  const F32x16 a_all = F32x16::all(*a);
  const F32x16 b_all = F32x16::all(*b);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const F32x16 va = a_varies ? F32x16::load(a + i) : a_all;
    const F32x16 vb = b_varies ? F32x16::load(b + i) : b_all;
    store(Op::of(va, vb), y + i);
  }
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    const F32x16 va = a_varies ? F32x16::load_partial(a + i, rest) : a_all;
    const F32x16 vb = b_varies ? F32x16::load_partial(b + i, rest) : b_all;
    store_partial(Op::of(va, vb), y + i, rest);
  }
}

template <class Op>
void binary_rows(const float* a, int64_t a_step, const float* b, int64_t b_step, float* y,
                 int64_t n) {
  if (n <= 0) return;
  if (a_step != 0 && b_step != 0) {
    binary_row<Op, true, true>(a, b, y, n);
  } else if (a_step != 0) {
    binary_row<Op, true, false>(a, b, y, n);
  } else if (b_step != 0) {
    binary_row<Op, false, true>(a, b, y, n);
  } else {
    binary_row<Op, false, false>(a, b, y, n);
  }
}

void unary_f32(UnaryOp op, const float* x, float* y, int64_t n) {
  switch (op) {
    case UnaryOp::Neg:
      return unary_row<NegOp>(x, y, n);
    case UnaryOp::Abs:
      return unary_row<AbsOp>(x, y, n);
    case UnaryOp::Exp:
      return unary_row<ExpOp>(x, y, n);
    case UnaryOp::Log:
      return unary_row<LogOp>(x, y, n);
    case UnaryOp::Sqrt:
      return unary_row<SqrtOp>(x, y, n);
    case UnaryOp::Rsqrt:
      return unary_row<RsqrtOp>(x, y, n);
    case UnaryOp::Tanh:
      return unary_row<TanhOp>(x, y, n);
    case UnaryOp::Erf:
      return unary_row<ErfOp>(x, y, n);
    case UnaryOp::Erfc:
      return unary_row<ErfcOp>(x, y, n);
    case UnaryOp::GeluExact:
      return unary_row<GeluExactOp>(x, y, n);
    case UnaryOp::GeluTanh:
      return unary_row<GeluTanhOp>(x, y, n);
    case UnaryOp::Sigmoid:
      return unary_row<SigmoidOp>(x, y, n);
    case UnaryOp::Silu:
      return unary_row<SiluOp>(x, y, n);
    case UnaryOp::Relu:
      return unary_row<ReluOp>(x, y, n);
    case UnaryOp::Not:
      return;  // no meaning for floats: unary_supports
  }
}

void binary_f32(BinaryOp op, const float* a, int64_t a_step, const float* b, int64_t b_step,
                float* y, int64_t n) {
  switch (op) {
    case BinaryOp::Add:
      return binary_rows<AddOp>(a, a_step, b, b_step, y, n);
    case BinaryOp::Sub:
      return binary_rows<SubOp>(a, a_step, b, b_step, y, n);
    case BinaryOp::Mul:
      return binary_rows<MulOp>(a, a_step, b, b_step, y, n);
    case BinaryOp::Div:
      return binary_rows<DivOp>(a, a_step, b, b_step, y, n);
    case BinaryOp::Min:
      return binary_rows<MinOp>(a, a_step, b, b_step, y, n);
    case BinaryOp::Max:
      return binary_rows<MaxOp>(a, a_step, b, b_step, y, n);
    case BinaryOp::And:
    case BinaryOp::Or:
      return;  // no meaning for floats: binary_supports
  }
}

}  // namespace

void fill(ElementwiseKernels& table);
void fill(ElementwiseKernels& table) {
  table.unary_f32 = unary_f32;
  table.binary_f32 = binary_f32;
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();
