// Runs a fixed set of seeded problems with the kernels in use (CAPRA_ISA chooses) and prints a hash
// of the bits of each result: the lines must be the same on every instruction set. Links with
// nothing but the kernels, so that it cross-compiles.
//
//   isa_hashes short|ci|nightly     which lengths of the small encoder are run
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "capra/targets/cpu/kernels/kernel_table.h"
#include "tests/targets/cpu/kernels/kernel_reference.h"

namespace capra::kernels {
namespace {

class Hash {
 public:
  template <class T>
  void add(const T* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      T value = values[i];
      if (value != value)
        value = std::numeric_limits<T>::quiet_NaN();  // one NaN is as good as another
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &value, sizeof(T));
      for (const unsigned char byte : bytes) state_ = (state_ ^ byte) * 0x100000001b3U;
    }
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.data(), values.size());
  }
  void print(const std::string& name) const {
    std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(state_));
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325U;
};

// C = A B^T with everything that can follow; weights are [n, k].
std::vector<float> linear(const std::vector<float>& a, const std::vector<float>& weights, size_t m,
                          size_t n, size_t k, const MatmulEpilogue& epilogue) {
  const MatmulKernels& table = kernels().matmul;
  Aligned<float> packed(table.packed_floats(k, n));
  table.pack_b(weights.data(), 1, static_cast<ptrdiff_t>(k), k, n, 0, n, packed.get());
  Aligned<char> scratch(table.scratch_bytes(k));
  std::vector<float> c(m * n);
  MatmulF32 product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.a = a.data();
  product.a_row = static_cast<ptrdiff_t>(k);
  product.packed_b = packed.get();
  product.c = c.data();
  product.c_row = static_cast<ptrdiff_t>(n);
  product.epilogue = epilogue;
  table.f32(product, {0, m, 0, n}, scratch.get());
  return c;
}

void products() {
  Seeded seeded(1);
  for (const size_t m : {1, 5, 17, 33}) {
    for (const size_t n : {1, 16, 31, 65}) {
      for (const size_t k : {1, 63, 64, 130}) {
        const std::vector<float> a = seeded.wilds(m * k);
        const std::vector<float> b = seeded.wilds(n * k);
        Hash hash;
        hash.add(linear(a, b, m, n, k, {}));
        hash.print("product " + std::to_string(m) + "x" + std::to_string(n) + "x" +
                   std::to_string(k));
      }
    }
  }
  const std::vector<float> bias = seeded.units(70);
  const std::vector<float> residual = seeded.units(20 * 70);
  for (const Activation activation :
       {Activation::None, Activation::GeluExact, Activation::GeluTanh, Activation::Relu,
        Activation::Silu, Activation::Sigmoid, Activation::Tanh}) {
    MatmulEpilogue e;
    e.factor = 0.3F;
    e.bias = bias.data();
    e.activation = activation;
    e.residual = residual.data();
    e.residual_row = 70;
    const std::vector<float> left = seeded.units(20 * 100);
    const std::vector<float> right = seeded.units(70 * 100);
    Hash hash;
    hash.add(linear(left, right, 20, 70, 100, e));
    hash.print("epilogue " + std::to_string(static_cast<int>(activation)));
  }
  const MatmulKernels& table = kernels().matmul;
  const std::vector<double> a = seeded.units<double>(9 * 70);
  const std::vector<double> b = seeded.units<double>(70 * 21);
  std::vector<double> c(9 * 21);
  Aligned<char> scratch(table.scratch_bytes(70));
  MatmulPlainF64 product;
  product.m = 9;
  product.n = 21;
  product.k = 70;
  product.a = a.data();
  product.a_row = 70;
  product.b = b.data();
  product.b_row = 21;
  product.c = c.data();
  product.c_row = 21;
  product.factor = 0.1;
  table.plain_f64(product, {0, 9, 0, 21}, scratch.get());
  Hash hash;
  hash.add(c);
  hash.print("product f64");
}

void rows() {
  Seeded seeded(2);
  const ElementwiseKernels& elementwise = kernels().elementwise;
  std::vector<float> x(4000);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = seeded.unit() * 12.0F;
    const int exponent = static_cast<int>(seeded.next() % 280) - 150;
    if (i >= 3000) x[i] = std::ldexp(x[i], exponent);
  }
  x[7] = std::numeric_limits<float>::infinity();
  x[8] = -x[7];
  x[9] = std::numeric_limits<float>::quiet_NaN();
  x[10] = -0.0F;
  std::vector<float> y(x.size());
  for (const UnaryOp op : {UnaryOp::Exp, UnaryOp::Log, UnaryOp::Sqrt, UnaryOp::Rsqrt, UnaryOp::Tanh,
                           UnaryOp::Erf, UnaryOp::Erfc, UnaryOp::GeluExact, UnaryOp::GeluTanh,
                           UnaryOp::Sigmoid, UnaryOp::Silu, UnaryOp::Relu}) {
    elementwise.unary_f32(op, x.data(), y.data(), 3999);
    Hash hash;
    hash.add(y.data(), 3999);
    hash.print("unary " + std::to_string(static_cast<int>(op)));
  }
  for (const BinaryOp op :
       {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Min, BinaryOp::Max}) {
    elementwise.binary_f32(op, x.data(), 1, x.data() + 1, 1, y.data(), 3999);
    Hash hash;
    hash.add(y.data(), 3999);
    hash.print("binary " + std::to_string(static_cast<int>(op)));
  }

  const ReduceKernels& reduce = kernels().reduce;
  const NormalizeKernels& normalize = kernels().normalize;
  for (const int64_t n : {1, 5, 16, 31, 96, 385}) {
    const auto count = static_cast<size_t>(n);
    const std::vector<float> v = seeded.units(count);
    const std::vector<float> gamma = seeded.units(count);
    const std::vector<float> beta = seeded.units(count);
    const float reduced[] = {reduce.sum_f32(v.data(), n), reduce.max_f32(v.data(), n),
                             reduce.sum_squared_difference_f32(v.data(), 0.1F, n)};
    Hash hash;
    hash.add(reduced, 3);
    std::vector<float> out(count);
    normalize.softmax_row(v.data(), out.data(), n);
    hash.add(out);
    normalize.layer_norm_row(v.data(), gamma.data(), beta.data(), 1e-12, out.data(), n);
    hash.add(out);
    // Pooling and the rounding after it: v as 5 tokens of n / 5 columns, or fewer.
    const int64_t columns = (n + 4) / 5;
    std::vector<double> pooled(count);
    for (const Pooling kind : {Pooling::Cls, Pooling::Mean, Pooling::Max, Pooling::MeanSqrtLen,
                               Pooling::WeightedMean, Pooling::LastToken}) {
      normalize.pool(kind, v.data(), n / columns, columns, pooled.data());
      hash.add(pooled.data(), static_cast<size_t>(columns));
    }
    normalize.round_to_f32(pooled.data(), out.data(), columns);
    hash.add(out.data(), static_cast<size_t>(columns));
    hash.print("row " + std::to_string(n));
  }
}

// Softmax attention with all the ways to exclude keys.
void attention() {
  Seeded seeded(3);
  const int64_t q_offsets[] = {0, 20, 21, 90};
  const int64_t k_offsets[] = {0, 20, 91, 221};
  const int64_t key_lengths[] = {20, 66, 129};
  const std::vector<float> q = seeded.units(90 * 160);
  const std::vector<float> kv = seeded.units(221 * 160);
  const std::vector<float> mask = seeded.units(130 * 130);
  for (int kind = 0; kind < 8; ++kind) {
    AttentionF32 args;
    args.heads = 4;
    args.kv_heads = 2;
    args.head_dim = args.value_dim = 40;
    args.q = q.data();
    args.q_token = 160;
    args.q_head = 40;
    args.k = kv.data();
    args.v = kv.data() + 80;
    args.k_token = args.v_token = 160;
    args.k_head = args.v_head = 40;
    args.scale = 2.5F;
    args.sequences = 3;
    args.q_offsets = q_offsets;
    args.k_offsets = k_offsets;
    args.causal = (kind & 1) != 0;
    if (kind & 2) args.key_lengths = key_lengths;
    if (kind & 4) args.mask = mask.data();
    args.mask_query = 130;
    std::vector<float> out(90 * 160);
    args.out = out.data();
    args.out_token = 160;
    args.out_head = 40;
    Aligned<char> scratch(kernels().attention.scratch_bytes(130, 40, 40));
    for (size_t s = 0; s < 3; ++s) {
      for (size_t h = 0; h < 4; ++h) {
        kernels().attention.f32(args, s, h, 0, static_cast<size_t>(q_offsets[s + 1] - q_offsets[s]),
                                scratch.get());
      }
    }
    Hash hash;
    hash.add(out);
    hash.print("attention " + std::to_string(kind));
  }
}

// A BERT encoder: 2 layers, hidden 96, 3 heads, intermediate 200, exact GELU.
class Encoder {
 public:
  Encoder() {
    Seeded seeded(4);
    const auto weights = [&seeded](size_t count, float scale) {
      std::vector<float> w = seeded.units(count);
      for (float& x : w) x *= scale;
      return w;
    };
    for (Layer& layer : layers_) {
      layer = {weights(288 * 96, 0.2F), weights(288, 0.1F),      weights(96 * 96, 0.2F),
               weights(96, 0.1F),       weights(200 * 96, 0.2F), weights(200, 0.1F),
               weights(96 * 200, 0.2F), weights(96, 0.1F)};
    }
    gamma_ = weights(96, 0.5F);
    for (float& x : gamma_) x += 1.0F;
    beta_ = weights(96, 0.1F);
  }

  void run(size_t tokens) const {
    Seeded seeded(tokens + 100);
    std::vector<float> x = norm(seeded.units(tokens * 96));
    for (const Layer& layer : layers_) {
      MatmulEpilogue e;
      e.bias = layer.qkv_bias.data();
      const std::vector<float> qkv = linear(x, layer.qkv, tokens, 288, 96, e);
      const std::vector<float> mixed = attend(qkv, tokens);
      e.bias = layer.out_bias.data();
      e.residual = x.data();
      e.residual_row = 96;
      x = norm(linear(mixed, layer.out, tokens, 96, 96, e));
      MatmulEpilogue up;
      up.bias = layer.up_bias.data();
      up.activation = Activation::GeluExact;
      const std::vector<float> wide = linear(x, layer.up, tokens, 200, 96, up);
      e.bias = layer.down_bias.data();
      e.residual = x.data();
      x = norm(linear(wide, layer.down, tokens, 96, 200, e));
    }
    Hash hash;
    hash.add(x);
    hash.print("encoder " + std::to_string(tokens));
  }

 private:
  struct Layer {
    std::vector<float> qkv, qkv_bias, out, out_bias, up, up_bias, down, down_bias;
  };

  std::vector<float> norm(const std::vector<float>& x) const {
    std::vector<float> y(x.size());
    for (size_t i = 0; i < x.size(); i += 96) {
      kernels().normalize.layer_norm_row(&x[i], gamma_.data(), beta_.data(), 1e-12, &y[i], 96);
    }
    return y;
  }

  static std::vector<float> attend(const std::vector<float>& qkv, size_t tokens) {
    std::vector<float> out(tokens * 96);
    const int64_t offsets[] = {0, static_cast<int64_t>(tokens)};
    AttentionF32 args;
    args.heads = args.kv_heads = 3;
    args.head_dim = args.value_dim = 32;
    args.q = qkv.data();
    args.k = qkv.data() + 96;
    args.v = qkv.data() + 192;
    args.q_token = args.k_token = args.v_token = 288;
    args.q_head = args.k_head = args.v_head = 32;
    args.out = out.data();
    args.out_token = 96;
    args.out_head = 32;
    args.scale = 1.0F / std::sqrt(32.0F);
    args.sequences = 1;
    args.q_offsets = args.k_offsets = offsets;
    Aligned<char> scratch(kernels().attention.scratch_bytes(tokens, 32, 32));
    for (size_t h = 0; h < 3; ++h) {
      kernels().attention.f32(args, 0, h, 0, tokens, scratch.get());
    }
    return out;
  }

  Layer layers_[2];
  std::vector<float> gamma_, beta_;
};

int run(const std::string& mode) {
  if (isa_override_error() != nullptr) {
    std::fprintf(stderr, "isa_hashes: %s\n", isa_override_error());
    return 3;  // this machine cannot run what was asked for
  }
  std::fprintf(stderr, "isa_hashes: %s\n", isa_name(kernels().isa));
  products();
  rows();
  attention();
  const Encoder encoder;
  if (mode == "short") {
    for (const size_t tokens : {1, 17, 65}) encoder.run(tokens);
    return 0;
  }
  if (mode != "ci" && mode != "nightly") return 2;
  for (size_t tokens = 1; tokens <= 512; tokens += mode == "ci" && tokens >= 80 ? 13 : 1) {
    encoder.run(tokens);
  }
  return 0;
}

}  // namespace
}  // namespace capra::kernels

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: isa_hashes short|ci|nightly\n");
    return 2;
  }
  return capra::kernels::run(argv[1]);
}
