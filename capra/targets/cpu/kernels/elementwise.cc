// Elementwise ops over strided operands: walks the rows, and has the loops for every type but f32.
#include "capra/targets/cpu/kernels/elementwise.h"

#include <type_traits>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "capra/targets/cpu/kernels/math_f64.h"
#include "capra/targets/cpu/kernels/strided_walk.h"

namespace capra::kernels {
namespace {

bool is_float(Element type) { return type <= Element::BF16; }

// A 16-bit float row as f32 and back.
void widen_row(Element type, const uint16_t* x, float* y, int64_t n) {
  if (type == Element::F16) {
    for (int64_t i = 0; i < n; ++i) y[i] = f16_to_f32(x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = bf16_to_f32(x[i]);
  }
}
void narrow_row(Element type, const float* x, uint16_t* y, int64_t n) {
  if (type == Element::F16) {
    for (int64_t i = 0; i < n; ++i) y[i] = f32_to_f16(x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = f32_to_bf16(x[i]);
  }
}

template <class F>
void for_integer_or_f64(Element type, F f) {
  return type == Element::F64 ? f(double{}) : for_integer(type, f);
}

// Integer arithmetic modulo 2^64, cut to T: every T wraps.
template <class T>
uint64_t bits_of(T v) {
  return static_cast<uint64_t>(v);
}

template <class T>
T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - bits_of(a));
    }
    return static_cast<T>(a / b);
  }
}

double minimum(double a, double b) {
  if (a != a) return a;
  if (a == b) return __builtin_signbit(a) ? a : b;
  return a < b ? a : b;
}
double maximum(double a, double b) {
  if (a != a) return a;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T, class F>
void unary_loop(const T* x, T* y, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

void unary_f64(UnaryOp op, const double* x, double* y, int64_t n) {
  namespace m = f64_math;
  const auto loop = [&](auto f) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(m::Double{x[i]}).value;
  };
  switch (op) {
    case UnaryOp::Neg:
      return loop([](m::Double v) { return neg(v); });
    case UnaryOp::Abs:
      return loop([](m::Double v) { return abs(v); });
    case UnaryOp::Exp:
      return loop([](m::Double v) { return exp(v); });
    case UnaryOp::Log:
      return loop([](m::Double v) { return log(v); });
    case UnaryOp::Sqrt:
      return loop([](m::Double v) { return sqrt(v); });
    case UnaryOp::Rsqrt:
      return loop([](m::Double v) { return rsqrt(v); });
    case UnaryOp::Tanh:
      return loop([](m::Double v) { return tanh(v); });
    case UnaryOp::Erf:
      return loop([](m::Double v) { return erf(v); });
    case UnaryOp::Erfc:
      return loop([](m::Double v) { return erfc(v); });
    case UnaryOp::GeluExact:
      return loop([](m::Double v) { return gelu_exact(v); });
    case UnaryOp::GeluTanh:
      return loop([](m::Double v) { return gelu_tanh(v); });
    case UnaryOp::Sigmoid:
      return loop([](m::Double v) { return sigmoid(v); });
    case UnaryOp::Silu:
      return loop([](m::Double v) { return silu(v); });
    case UnaryOp::Relu:
      return loop([](m::Double v) { return relu(v); });
    case UnaryOp::Not:
      return;  // no meaning for floats: unary_supports
  }
}

template <class T>
void unary_integer(UnaryOp op, const T* x, T* y, int64_t n) {
  switch (op) {
    case UnaryOp::Neg:
      return unary_loop(x, y, n, [](T v) { return static_cast<T>(0 - bits_of(v)); });
    case UnaryOp::Abs:
      return unary_loop(x, y, n, [](T v) { return v < 0 ? static_cast<T>(0 - bits_of(v)) : v; });
    case UnaryOp::Not:
      return unary_loop(x, y, n, [](T v) { return static_cast<T>(~bits_of(v)); });
    case UnaryOp::Relu:
      return unary_loop(x, y, n, [](T v) { return v > 0 ? v : static_cast<T>(0); });
    default:
      return;  // no meaning for integers: unary_supports
  }
}

template <class T, class F>
void binary_loop(const T* a, int64_t a_step, const T* b, int64_t b_step, T* y, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(a[i * a_step], b[i * b_step]);
}

template <class T>
void binary_typed(BinaryOp op, const T* a, int64_t a_step, const T* b, int64_t b_step, T* y,
                  int64_t n) {
  const auto loop = [&](auto f) { binary_loop(a, a_step, b, b_step, y, n, f); };
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case BinaryOp::Add:
        return loop([](T u, T v) { return u + v; });
      case BinaryOp::Sub:
        return loop([](T u, T v) { return u - v; });
      case BinaryOp::Mul:
        return loop([](T u, T v) { return u * v; });
      case BinaryOp::Div:
        return loop([](T u, T v) { return u / v; });
      case BinaryOp::Min:
        return loop([](T u, T v) { return minimum(u, v); });
      case BinaryOp::Max:
        return loop([](T u, T v) { return maximum(u, v); });
      default:
        return;  // no meaning for floats: binary_supports
    }
  } else {
    switch (op) {
      case BinaryOp::Add:
        return loop([](T u, T v) { return static_cast<T>(bits_of(u) + bits_of(v)); });
      case BinaryOp::Sub:
        return loop([](T u, T v) { return static_cast<T>(bits_of(u) - bits_of(v)); });
      case BinaryOp::Mul:
        return loop([](T u, T v) { return static_cast<T>(bits_of(u) * bits_of(v)); });
      case BinaryOp::Div:
        return loop([](T u, T v) { return divide(u, v); });
      case BinaryOp::Min:
        return loop([](T u, T v) { return u < v ? u : v; });
      case BinaryOp::Max:
        return loop([](T u, T v) { return u > v ? u : v; });
      case BinaryOp::And:
        return loop([](T u, T v) { return static_cast<T>(bits_of(u) & bits_of(v)); });
      case BinaryOp::Or:
        return loop([](T u, T v) { return static_cast<T>(bits_of(u) | bits_of(v)); });
    }
  }
}

template <class T>
void compare_typed(CompareOp op, const T* a, int64_t a_step, const T* b, int64_t b_step, uint8_t* y,
                   int64_t n) {
  const auto loop = [&](auto f) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(a[i * a_step], b[i * b_step]) ? 1 : 0;
  };
  switch (op) {
    case CompareOp::Eq:
      return loop([](T u, T v) { return u == v; });
    case CompareOp::Ne:
      return loop([](T u, T v) { return u != v; });
    case CompareOp::Lt:
      return loop([](T u, T v) { return u < v; });
    case CompareOp::Le:
      return loop([](T u, T v) { return u <= v; });
    case CompareOp::Gt:
      return loop([](T u, T v) { return u > v; });
    case CompareOp::Ge:
      return loop([](T u, T v) { return u >= v; });
  }
}

// Calls row(a, a_step, b, b_step, first, n) with steps of 0 and 1 only.
template <class T, class Row>
void walk_two(Strided a, Strided b, int rank, const int64_t* dims, Range range, bool chunked,
              Row row) {
  const StridedWalk<2> walk(rank, dims, {a.strides, b.strides});
  const auto* a_data = static_cast<const T*>(a.data);
  const auto* b_data = static_cast<const T*>(b.data);
  const int64_t a_walk = walk.step(0);
  const int64_t b_walk = walk.step(1);
  const bool direct = !chunked && (a_walk == 0 || a_walk == 1) && (b_walk == 0 || b_walk == 1);
  walk.rows(range, [&](int64_t first, int64_t n, const int64_t(&offsets)[2]) {
    const T* a_row = a_data + offsets[0];
    const T* b_row = b_data + offsets[1];
    if (direct) {
      row(a_row, a_walk, b_row, b_walk, first, n);
      return;
    }
    T a_buffer[kChunk];
    T b_buffer[kChunk];
    for (int64_t done = 0; done < n; done += kChunk) {
      const int64_t m = n - done < kChunk ? n - done : kChunk;
      int64_t a_step = a_walk;
      int64_t b_step = b_walk;
      const T* a_chunk = chunk_of_row(a_row + done * a_walk, a_step, m, a_buffer);
      const T* b_chunk = chunk_of_row(b_row + done * b_walk, b_step, m, b_buffer);
      row(a_chunk, a_step, b_chunk, b_step, first + done, m);
    }
  });
}

// The same over 16-bit floats, widened to f32 a chunk at a time.
template <class Row>
void walk_two_widened(Element type, Strided a, Strided b, int rank, const int64_t* dims,
                      Range range, Row row) {
  walk_two<uint16_t>(a, b, rank, dims, range, true,
                     [&](const uint16_t* u, int64_t u_step, const uint16_t* v, int64_t v_step,
                         int64_t first, int64_t n) {
                       float u_wide[kChunk];
                       float v_wide[kChunk];
                       widen_row(type, u, u_wide, u_step == 0 ? 1 : n);
                       widen_row(type, v, v_wide, v_step == 0 ? 1 : n);
                       row(u_wide, u_step, v_wide, v_step, first, n);
                     });
}

template <class T>
void select_bits(Strided condition, Strided a, Strided b, void* out, int rank, const int64_t* dims,
                 Range range) {
  const StridedWalk<3> walk(rank, dims, {condition.strides, a.strides, b.strides});
  const auto* c_data = static_cast<const uint8_t*>(condition.data);
  const auto* a_data = static_cast<const T*>(a.data);
  const auto* b_data = static_cast<const T*>(b.data);
  auto* y = static_cast<T*>(out);
  const int64_t c_step = walk.step(0);
  const int64_t a_step = walk.step(1);
  const int64_t b_step = walk.step(2);
  walk.rows(range, [&](int64_t first, int64_t n, const int64_t(&offsets)[3]) {
    const uint8_t* c = c_data + offsets[0];
    const T* u = a_data + offsets[1];
    const T* v = b_data + offsets[2];
    for (int64_t i = 0; i < n; ++i)
      y[first + i] = c[i * c_step] != 0 ? u[i * a_step] : v[i * b_step];
  });
}

}  // namespace

bool unary_supports(UnaryOp op, Element type) {
  switch (op) {
    case UnaryOp::Neg:
    case UnaryOp::Abs:
    case UnaryOp::Relu:
      return type != Element::Bool;
    case UnaryOp::Not:
      return !is_float(type);
    default:
      return is_float(type);
  }
}

bool binary_supports(BinaryOp op, Element type) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Div:
      return type != Element::Bool;
    case BinaryOp::Min:
    case BinaryOp::Max:
      return true;
    case BinaryOp::And:
    case BinaryOp::Or:
      return !is_float(type);
  }
  return false;
}

void unary(const KernelTable& table, UnaryOp op, Element type, const void* x, void* y, int64_t n) {
  if (type == Element::F32) {
    table.elementwise.unary_f32(op, static_cast<const float*>(x), static_cast<float*>(y), n);
    return;
  }
  if (type == Element::F16 || type == Element::BF16) {
    const auto* from = static_cast<const uint16_t*>(x);
    auto* to = static_cast<uint16_t*>(y);
    float buffer[kChunk];
    for (int64_t done = 0; done < n; done += kChunk) {
      const int64_t m = n - done < kChunk ? n - done : kChunk;
      widen_row(type, from + done, buffer, m);
      table.elementwise.unary_f32(op, buffer, buffer, m);
      narrow_row(type, buffer, to + done, m);
    }
    return;
  }
  if (type == Element::Bool) {  // Not is the one op it has
    unary_loop(static_cast<const uint8_t*>(x), static_cast<uint8_t*>(y), n,
               [](uint8_t v) { return static_cast<uint8_t>(v == 0 ? 1 : 0); });
    return;
  }
  for_integer_or_f64(type, [&](auto sample) {
    using T = decltype(sample);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    if constexpr (std::is_floating_point_v<T>) {
      unary_f64(op, from, to, n);
    } else {
      unary_integer(op, from, to, n);
    }
  });
}

void binary(const KernelTable& table, BinaryOp op, Element type, Strided a, Strided b, void* out,
            int rank, const int64_t* dims, Range range) {
  if (type == Element::F32) {
    auto* y = static_cast<float*>(out);
    walk_two<float>(
        a, b, rank, dims, range, false,
        [&](const float* u, int64_t u_step, const float* v, int64_t v_step, int64_t first,
            int64_t n) { table.elementwise.binary_f32(op, u, u_step, v, v_step, y + first, n); });
    return;
  }
  if (type == Element::F16 || type == Element::BF16) {
    auto* y = static_cast<uint16_t*>(out);
    walk_two_widened(type, a, b, rank, dims, range,
                     [&](const float* u, int64_t u_step, const float* v, int64_t v_step,
                         int64_t first, int64_t n) {
                       float wide[kChunk];
                       table.elementwise.binary_f32(op, u, u_step, v, v_step, wide, n);
                       narrow_row(type, wide, y + first, n);
                     });
    return;
  }
  for_integer_or_f64(type, [&](auto sample) {
    using T = decltype(sample);
    T* y = static_cast<T*>(out);
    walk_two<T>(a, b, rank, dims, range, false,
                [&](const T* u, int64_t u_step, const T* v, int64_t v_step, int64_t first,
                    int64_t n) { binary_typed(op, u, u_step, v, v_step, y + first, n); });
  });
}

void compare(const KernelTable&, CompareOp op, Element type, Strided a, Strided b, void* out,
             int rank, const int64_t* dims, Range range) {
  auto* y = static_cast<uint8_t*>(out);
  if (type == Element::F16 || type == Element::BF16) {
    walk_two_widened(
        type, a, b, rank, dims, range,
        [&](const float* u, int64_t u_step, const float* v, int64_t v_step, int64_t first,
            int64_t n) { compare_typed(op, u, u_step, v, v_step, y + first, n); });
    return;
  }
  const auto run = [&](auto sample) {
    using T = decltype(sample);
    walk_two<T>(a, b, rank, dims, range, false,
                [&](const T* u, int64_t u_step, const T* v, int64_t v_step, int64_t first,
                    int64_t n) { compare_typed(op, u, u_step, v, v_step, y + first, n); });
  };
  if (type == Element::F32) {
    run(float{});
  } else {
    for_integer_or_f64(type, run);
  }
}

void select(const KernelTable&, Element type, Strided condition, Strided a, Strided b, void* out,
            int rank, const int64_t* dims, Range range) {
  switch (element_bytes(type)) {
    case 1:
      return select_bits<uint8_t>(condition, a, b, out, rank, dims, range);
    case 2:
      return select_bits<uint16_t>(condition, a, b, out, rank, dims, range);
    case 4:
      return select_bits<uint32_t>(condition, a, b, out, rank, dims, range);
    default:
      return select_bits<uint64_t>(condition, a, b, out, rank, dims, range);
  }
}

}  // namespace capra::kernels
