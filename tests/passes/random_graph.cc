// Growing a random graph: each step applies something to values that are there; what a shape rule
// refuses is tried again with something else.
#include "tests/passes/random_graph.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "capra/ir/tape.h"
#include "capra/ops/abs.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/attention.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/erf.h"
#include "capra/ops/exp.h"
#include "capra/ops/gather.h"
#include "capra/ops/gelu.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/linear.h"
#include "capra/ops/matmul.h"
#include "capra/ops/maximum.h"
#include "capra/ops/mean.h"
#include "capra/ops/minimum.h"
#include "capra/ops/permute.h"
#include "capra/ops/relu.h"
#include "capra/ops/reshape.h"
#include "capra/ops/rsqrt.h"
#include "capra/ops/sigmoid.h"
#include "capra/ops/silu.h"
#include "capra/ops/slice.h"
#include "capra/ops/softmax.h"
#include "capra/ops/sum.h"
#include "capra/ops/tanh.h"
#include "tests/passes/graph_run.h"

namespace capra::testing {
namespace {

constexpr int64_t kWidth = 8;
constexpr int kSteps = 24;

class Grower {
 public:
  explicit Grower(uint64_t seed) : random_(seed), context_(TraceSink::begin("random")), tokens_(5) {
    if (seed % 2 == 0) tokens_ = Dim("tokens");
    plain_ = seed % 4 == 3;
    // Rules for floats of 32 bits must leave the others alone.
    constexpr DType kOthers[] = {DType::I32, DType::F16, DType::F64, DType::BF16, DType::I8};
    if (seed % 5 == 4) dtype_ = kOthers[seed / 5 % std::size(kOthers)];
    values_.push_back(sink().input(context_, "x", {dtype_, {tokens_, kWidth}}));
    values_.push_back(sink().input(context_, "z", {dtype_, {tokens_, kWidth}}));
    ids_ = sink().input(context_, "ids", {DType::I32, {tokens_}});
  }

  Graph grow() {
    for (int step = 0; step < kSteps; ++step) {
      try {
        values_.push_back(make());
      } catch (const Error&) {
        // The op does not take these shapes. What was recorded on the way stays, unused.
        --step;
      }
    }
    // Every value of a plain graph is seen; elsewhere that would keep fusions away.
    const int64_t seen = plain_ ? static_cast<int64_t>(values_.size()) - 1 : random_.below(3);
    for (int64_t i = 0; i < seen; ++i) {
      const Tensor& value = plain_ ? values_[static_cast<size_t>(i)] : any();
      sink().output(value, "output" + std::to_string(i));
    }
    sink().output(values_.back(), "last");
    return build_graph(sink().take_tape());
  }

 private:
  TraceSink& sink() { return static_cast<TraceSink&>(context_.sink()); }

  const Tensor& any() {
    // Later values are likelier, so that graphs are deep.
    const auto count = static_cast<int64_t>(values_.size());
    const int64_t back = random_.below(random_.chance(2) ? std::min<int64_t>(count, 3) : count);
    return values_[static_cast<size_t>(count - 1 - back)];
  }

  /// A value [tokens, kWidth].
  Tensor rows() {
    for (int i = 0; i < 4; ++i) {
      const Tensor& value = any();
      if (value.shape() == Shape{tokens_, kWidth}) return value;
    }
    return values_[static_cast<size_t>(random_.below(2))];
  }

  Tensor parameter(Shape shape) {
    return context_.sink().parameter(context_, "p" + std::to_string(parameters_++),
                                     {dtype_, std::move(shape)});
  }

  double scalar() {
    constexpr double kScalars[] = {0.0,  -0.0, 1.0, -1.0, 0.5,
                                   -4.0, 10.0, 0.1, 1.0,  std::numeric_limits<double>::infinity()};
    return kScalars[random_.below(std::size(kScalars))];
  }

  Tensor make() {
    if (plain_) return make_plain();
    switch (random_.below(17)) {
      case 0:
      case 1:
        return unary(any());
      case 2:
      case 3: {
        const Tensor a = any();
        return binary(a, any());
      }
      case 4:
      case 16:
        return with_scalar(any());
      case 5:
      case 6:
        return movement(any());
      case 7:
        return twice(any());
      case 8:
        return product(any());
      case 9:
        return projection(rows());
      case 10:
        return unary(projection(rows()));
      case 11:
        return residual(rows());
      case 12:
        return embedding();
      case 13:
        return attend(rows());
      case 14:
        return normalize(any());
      default:
        return constants_only();
    }
  }

  // What identities are about, and nothing that hides a difference.
  Tensor make_plain() {
    switch (random_.below(5)) {
      case 0: {
        const Tensor a = any();
        return binary(a, any());
      }
      case 1:
        return with_scalar(any());
      case 2:
        return twice(any());
      default:
        return movement(any());
    }
  }

  Tensor unary(const Tensor& x) {
    switch (random_.below(12)) {
      case 0:
        return neg(x);
      case 1:
        return abs(x);
      case 2:
        return exp(x);
      case 3:
        return rsqrt(x);
      case 4:
        return tanh(x);
      case 5:
        return erf(x);
      case 6:
        return gelu(x, {.approximate = false});
      case 7:
        return gelu(x, {.approximate = true});
      case 8:
        return silu(x);
      case 9:
        return relu(x);
      case 10:
        return sigmoid(x);
      default:
        return softmax(x, random_.chance(2) ? -1 : 0);
    }
  }

  Tensor binary(const Tensor& a, const Tensor& b) {
    switch (random_.below(6)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return a / b;
      case 4:
        return minimum(a, b);
      default:
        return maximum(a, b);
    }
  }

  Tensor with_scalar(const Tensor& x) {
    const Tensor number = scalar_like(x, scalar());
    return random_.chance(3) ? binary(number, x) : binary(x, number);
  }

  Tensor movement(const Tensor& x) {
    const int64_t rank = x.shape().rank();
    switch (random_.below(7)) {
      case 0: {
        std::vector<int64_t> axes;
        for (int64_t i = 0; i < rank; ++i) axes.insert(axes.begin() + random_.below(i + 1), i);
        return permute(x, axes);
      }
      case 1:
        return reshape(x, {tokens_, 2, kWidth / 2});
      case 2:
        return reshape(x, {tokens_, kWidth});
      case 3: {
        Shape wide = x.shape();
        std::vector<Dim> dims = wide.dims();
        if (random_.chance(2)) dims.insert(dims.begin(), Dim(2));
        return broadcast(x, Shape(std::move(dims)));
      }
      case 4: {
        SliceAttrs attrs{.starts = std::vector<int64_t>(static_cast<size_t>(rank), 0),
                         .limits = x.shape(),
                         .strides = std::vector<int64_t>(static_cast<size_t>(rank), 1)};
        if (rank > 0 && random_.chance(2)) attrs.starts.back() = 1;
        return slice(x, attrs);
      }
      case 5: {
        const Tensor parts[] = {x, any()};
        return concat(std::span(parts).first(random_.chance(3) ? 1 : 2), -1);
      }
      default: {
        constexpr DType kThrough[] = {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I32};
        const Tensor other = convert(x, kThrough[random_.below(std::size(kThrough))]);
        return convert(other, dtype_);
      }
    }
  }

  // What identities and common subexpressions are about.
  Tensor twice(const Tensor& x) {
    switch (random_.below(6)) {
      case 0: {
        const Tensor once = neg(x);
        return neg(once);
      }
      case 1: {
        const Tensor negated = neg(x);
        return any() + negated;
      }
      case 2: {
        const Tensor negated = neg(x);
        return abs(negated);
      }
      case 3: {
        const Tensor once = tanh(x);
        const Tensor again = tanh(x);
        return once + again;
      }
      case 4: {
        const Tensor once = relu(x);
        return relu(once);
      }
      default:
        return maximum(x, x);
    }
  }

  Tensor swapped(const Tensor& x) {
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return permute(x, axes);
  }

  Tensor product(const Tensor& x) {
    const int64_t rank = x.shape().rank();
    if (rank < 2) return unary(x);
    const MatmulAttrs attrs{.transpose_a = random_.chance(3),
                            .transpose_b = random_.chance(2),
                            .factor = random_.chance(3) ? 0.5 : 1.0};
    const Dim k = x.shape()[attrs.transpose_a ? rank - 2 : rank - 1];
    if (!k.is_static()) return matmul(x, any(), attrs);
    const Tensor weight = parameter(attrs.transpose_b ? Shape{3, k} : Shape{k, 3});
    if (random_.chance(2)) {
      const Tensor turned = swapped(weight);
      const Tensor made = matmul(x, turned, {attrs.transpose_a, !attrs.transpose_b, attrs.factor});
      return random_.chance(2) ? swapped(made) : made;
    }
    const Tensor made = matmul(x, weight, attrs);
    return random_.chance(2) ? made + parameter({3}) : made;
  }

  Tensor projection(const Tensor& x) {
    const Tensor weight = parameter({kWidth, kWidth});
    if (random_.chance(4)) {
      const Tensor made = matmul(x, weight, {.transpose_b = true});
      return made + parameter({kWidth});
    }
    return random_.chance(3) ? linear(x, weight) : linear(x, weight, parameter({kWidth}));
  }

  Tensor normalize(const Tensor& x) {
    const int64_t rank = x.shape().rank();
    if (rank == 0 || !x.shape()[rank - 1].is_static()) return unary(x);
    const Dim width = x.shape()[rank - 1];
    const Tensor gamma = random_.chance(3) ? Tensor() : parameter({width});
    const Tensor beta = random_.chance(3) ? Tensor() : parameter({width});
    return layer_norm(x, gamma, beta, {.eps = random_.chance(2) ? 1e-12 : 1e-3});
  }

  Tensor residual(const Tensor& x) {
    const Tensor other = random_.chance(2) ? projection(rows()) : rows();
    const Tensor sum = random_.chance(2) ? x + other : other + x;
    if (random_.chance(4)) return sum;
    if (random_.chance(6)) values_.push_back(sum);  // somebody else may read it
    return normalize(sum);
  }

  Tensor embedding() {
    const Tensor table = parameter({kRandomGraphRows, kWidth});
    const Tensor word = gather(table, ids_);
    const Tensor placed = random_.chance(2) ? word + rows() : rows() + word;
    const Tensor kind = parameter({kWidth});
    const Tensor typed = random_.chance(2) ? placed + kind : placed;
    return random_.chance(4) ? typed : normalize(typed);
  }

  Tensor attend(const Tensor& x) {
    const int64_t kv_heads = random_.chance(3) ? 1 : 2;
    const bool bias = !random_.chance(3);
    const auto part = [&](int64_t heads) {
      const Tensor weight = parameter({heads * 4, kWidth});
      const Tensor made = bias ? linear(x, weight, parameter({heads * 4})) : linear(x, weight);
      return reshape(made, {tokens_, heads, 4});
    };
    const Tensor q = part(2);
    const Tensor k = part(kv_heads);
    const Tensor v = random_.chance(6) ? k : part(kv_heads);
    const Tensor mixed =
        attention(q, k, v, {}, {}, {}, {.causal = random_.chance(3), .scale = 0.0});
    return random_.chance(4) ? mixed : reshape(mixed, {tokens_, kWidth});
  }

  Tensor constants_only() {
    const Tensor table = constant(context_, Array::scalar(dtype_, scalar()));
    const Tensor shifted = with_scalar(table);
    const Tensor wide = broadcast(shifted, {kWidth});
    return binary(any(), random_.chance(2) ? wide : unary(shifted));
  }

  Random random_;
  Context context_;
  Dim tokens_;
  DType dtype_ = DType::F32;
  Tensor ids_;
  std::vector<Tensor> values_;
  int parameters_ = 0;
  bool plain_ = false;
};

}  // namespace

Graph random_graph(uint64_t seed) { return Grower(seed).grow(); }

}  // namespace capra::testing
