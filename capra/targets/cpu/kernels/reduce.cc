// Reductions over any axes: finds each output's elements and adds them up in the contract's order.
#include "capra/targets/cpu/kernels/reduce.h"

#include <limits>
#include <type_traits>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "capra/targets/cpu/kernels/strided_walk.h"

namespace capra::kernels {
namespace {

// An element type: what is stored, the type that is computed in, and the way between them.
template <class T>
struct Same {
  using Stored = T;
  using Value = T;
  static T load(T x) { return x; }
  static T round(T x) { return x; }
};
struct Half {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t x) { return f16_to_f32(x); }
  static uint16_t round(float x) { return f32_to_f16(x); }
};
struct Brain {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t x) { return bf16_to_f32(x); }
  static uint16_t round(float x) { return f32_to_bf16(x); }
};

template <class V>
V plus(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    return static_cast<V>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class V>
V maximum(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    return a > b ? a : b;
  } else {
    if (a != a) return a;
    if (a == b) return __builtin_signbit(a) ? b : a;
    return a > b ? a : b;
  }
}

template <class V>
constexpr V least() {
  return std::is_integral_v<V> ? std::numeric_limits<V>::lowest()
                               : -std::numeric_limits<V>::infinity();
}

// The reduced elements of one output, in row-major order.
struct Reduced {
  StridedWalk<1> walk;
  int64_t count;

  // Calls f(element) for each, ascending.
  template <class E, class F>
  void each(const typename E::Stored* first, F f) const {
    const int64_t step = walk.step(0);
    walk.rows({0, count}, [&](int64_t, int64_t n, const int64_t(&offsets)[1]) {
      const typename E::Stored* row = first + offsets[0];
      for (int64_t i = 0; i < n; ++i) f(E::load(row[i * step]));
    });
  }
};

template <class V>
V fold(V (&p)[16]) {
  for (int half = 8; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) p[j] = plus(p[j], p[j + half]);
  }
  return p[0];
}

// The sum of f(element), partials by the element's number.
template <class E, class F>
typename E::Value sum_of(const Reduced& reduced, const typename E::Stored* first, F f) {
  typename E::Value p[16] = {};
  size_t i = 0;
  reduced.each<E>(first, [&](typename E::Value x) {
    p[i] = plus(p[i], f(x));
    i = (i + 1) % 16;
  });
  return fold(p);
}

template <class E>
typename E::Value reduce_one(ReduceOp op, const Reduced& reduced, const typename E::Stored* first) {
  using V = typename E::Value;
  const auto identity = [](V x) { return x; };
  switch (op) {
    case ReduceOp::Sum:
      return sum_of<E>(reduced, first, identity);
    case ReduceOp::Max: {
      V most = least<V>();
      reduced.each<E>(first, [&](V x) { most = maximum(most, x); });
      return most;
    }
    case ReduceOp::Mean:
    case ReduceOp::Variance:
      if constexpr (std::is_floating_point_v<V>) {
        const V n = static_cast<V>(reduced.count);
        const V mean = sum_of<E>(reduced, first, identity) / n;
        if (op == ReduceOp::Mean) return mean;
        return sum_of<E>(reduced, first,
                         [mean](V x) {
                           const V d = x - mean;
                           return d * d;
                         }) /
               n;
      }
      return V{};
    case ReduceOp::Argmax:
      return V{};  // reduce_argmax
  }
  return V{};
}

template <class E>
int64_t reduce_argmax(const Reduced& reduced, const typename E::Stored* first) {
  using V = typename E::Value;
  int64_t index = 0;
  int64_t best_index = 0;
  V best = V{};
  reduced.each<E>(first, [&](V x) {
    const bool best_is_nan = best != best;
    if (index == 0 || (!best_is_nan && (x > best || x != x))) {
      best = x;
      best_index = index;
    }
    ++index;
  });
  return best_index;
}

// A contiguous f32 row by the vector kernels: the same order, the same bits.
float reduce_row(const KernelTable& table, ReduceOp op, const float* x, int64_t n) {
  const ReduceKernels& k = table.reduce;
  const auto count = static_cast<float>(n);
  switch (op) {
    case ReduceOp::Sum:
      return k.sum_f32(x, n);
    case ReduceOp::Max:
      return k.max_f32(x, n);
    case ReduceOp::Mean:
      return k.sum_f32(x, n) / count;
    case ReduceOp::Variance:
      return k.sum_squared_difference_f32(x, k.sum_f32(x, n) / count, n) / count;
    case ReduceOp::Argmax:
      break;
  }
  return 0.0f;
}

template <class F>
void for_element(Element type, F f) {
  switch (type) {
    case Element::F64:
      return f(Same<double>{});
    case Element::F32:
      return f(Same<float>{});
    case Element::F16:
      return f(Half{});
    case Element::BF16:
      return f(Brain{});
    case Element::I64:
      return f(Same<int64_t>{});
    case Element::I32:
      return f(Same<int32_t>{});
    case Element::I16:
      return f(Same<int16_t>{});
    case Element::I8:
      return f(Same<int8_t>{});
    case Element::U64:
      return f(Same<uint64_t>{});
    case Element::U32:
      return f(Same<uint32_t>{});
    case Element::U16:
      return f(Same<uint16_t>{});
    case Element::U8:
    case Element::Bool:
      return f(Same<uint8_t>{});
  }
}

}  // namespace

bool reduce_supports(ReduceOp op, Element type) {
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Argmax:
      return type != Element::Bool;
    case ReduceOp::Max:
      return true;
    case ReduceOp::Mean:
    case ReduceOp::Variance:
      return type <= Element::BF16;
  }
  return false;
}

void reduce(const KernelTable& table, ReduceOp op, Element type, Strided x, int rank,
            const int64_t* dims, uint32_t axes, void* out, Range range) {
  int64_t kept_dims[kMaxRank];
  int64_t kept_strides[kMaxRank];
  int64_t reduced_dims[kMaxRank];
  int64_t reduced_strides[kMaxRank];
  int kept = 0;
  int gone = 0;
  int64_t count = 1;
  for (int d = 0; d < rank; ++d) {
    if ((axes >> d & 1u) != 0) {
      reduced_dims[gone] = dims[d];
      reduced_strides[gone++] = x.strides[d];
      count *= dims[d];
    } else {
      kept_dims[kept] = dims[d];
      kept_strides[kept++] = x.strides[d];
    }
  }
  const StridedWalk<1> outputs(kept, kept_dims, {kept_strides});
  const Reduced reduced{StridedWalk<1>(gone, reduced_dims, {reduced_strides}), count};
  const bool is_row = reduced.walk.is_row() && (reduced.walk.step(0) == 1 || count <= 1);
  const int64_t step = outputs.step(0);
  for_element(type, [&](auto element) {
    using E = decltype(element);
    using T = typename E::Stored;
    const T* data = static_cast<const T*>(x.data);
    outputs.rows(range, [&](int64_t first, int64_t n, const int64_t(&offsets)[1]) {
      for (int64_t i = 0; i < n; ++i) {
        const T* start = data + offsets[0] + i * step;
        if (op == ReduceOp::Argmax) {
          static_cast<int64_t*>(out)[first + i] = reduce_argmax<E>(reduced, start);
          continue;
        }
        if constexpr (std::is_same_v<T, float>) {
          if (is_row) {
            static_cast<T*>(out)[first + i] = reduce_row(table, op, start, count);
            continue;
          }
        }
        static_cast<T*>(out)[first + i] = E::round(reduce_one<E>(op, reduced, start));
      }
    });
  });
}

}  // namespace capra::kernels
