// The numeric contract of matrix products and attention, one scalar step after the other, and
// seeded operands. Shares nothing with the kernels but their argument records.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "capra/targets/cpu/kernels/attention.h"
#include "capra/targets/cpu/kernels/matmul.h"

namespace capra::kernels {

/// xorshift; the same numbers on every machine.
class Seeded {
 public:
  explicit Seeded(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  /// In [-1, 1), a multiple of 2^-23.
  float unit() {
    return static_cast<float>(static_cast<int32_t>(next() >> 40) - (1 << 23)) * 0x1p-23F;
  }
  /// Of very different sizes, with zeros of both signs among them.
  float wild() {
    const uint64_t kind = next() % 16;
    if (kind == 0) return 0.0F;
    if (kind == 1) return -0.0F;
    const int exponent = static_cast<int>(next() % 24) - 12;
    return std::ldexp(unit(), exponent);
  }
  template <class T = float>
  std::vector<T> units(size_t count) {
    std::vector<T> v(count);
    for (T& x : v) x = static_cast<T>(unit());
    return v;
  }
  std::vector<float> wilds(size_t count) {
    std::vector<float> v(count);
    for (float& x : v) x = wild();
    return v;
  }

 private:
  uint64_t state_;
};

/// 64-byte aligned memory as scratch and packed operands want it.
template <class T>
class Aligned {
 public:
  explicit Aligned(size_t count)
      : memory_(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64))) {}
  T* get() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> memory_;
};

inline float fused(float a, float b, float c) { return std::fma(a, b, c); }
inline double fused(double a, double b, double c) { return std::fma(a, b, c); }

/// sum of a[i * a_step] b[i * b_step], i < k, in blocks of 64.
template <class T>
T reference_dot(const T* a, ptrdiff_t a_step, const T* b, ptrdiff_t b_step, size_t k) {
  T total = 0;
  for (size_t begin = 0; begin < k; begin += 64) {
    const auto at = [](const T* p, ptrdiff_t step, size_t i) {
      return p[static_cast<ptrdiff_t>(i) * step];
    };
    T block = at(a, a_step, begin) * at(b, b_step, begin);
    for (size_t i = begin + 1; i < std::min(k, begin + 64); ++i) {
      block = fused(at(a, a_step, i), at(b, b_step, i), block);
    }
    total = begin == 0 ? block : total + block;
  }
  return total;
}

/// One query of one sequence and head; `exponential` is the contract's exp.
template <class Exp>
void reference_attention(const AttentionF32& x, size_t sequence, size_t head, size_t query,
                         Exp exponential, float* out) {
  const auto q_begin = static_cast<ptrdiff_t>(x.q_offsets[sequence]);
  const auto k_begin = static_cast<ptrdiff_t>(x.k_offsets[sequence]);
  const int64_t queries = x.q_offsets[sequence + 1] - x.q_offsets[sequence];
  const int64_t keys = x.k_offsets[sequence + 1] - x.k_offsets[sequence];
  const auto kv_head = static_cast<ptrdiff_t>(head / (x.heads / x.kv_heads));
  std::vector<bool> allowed(static_cast<size_t>(keys), true);
  for (int64_t j = 0; j < keys; ++j) {
    if (x.key_lengths != nullptr && j >= x.key_lengths[sequence]) allowed[j] = false;
    if (x.causal && j > static_cast<int64_t>(query) + keys - queries) allowed[j] = false;
  }
  std::vector<float> score(static_cast<size_t>(keys));
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < keys; ++j) {
    if (!allowed[j]) continue;
    const float* q = x.q + (q_begin + static_cast<ptrdiff_t>(query)) * x.q_token +
                     static_cast<ptrdiff_t>(head) * x.q_head;
    const float* k = x.k + (k_begin + j) * x.k_token + kv_head * x.k_head;
    float s = reference_dot(q, 1, k, 1, x.head_dim) * x.scale;
    if (x.mask != nullptr) {
      s += x.mask[static_cast<ptrdiff_t>(head) * x.mask_head +
                  static_cast<ptrdiff_t>(query) * x.mask_query + j * x.mask_key];
    }
    score[j] = s;
    most = std::isnan(most) || std::isnan(s) ? std::numeric_limits<float>::quiet_NaN()
                                             : std::max(most, s);
  }
  if (most == -std::numeric_limits<float>::infinity()) {
    std::fill(out, out + x.value_dim, 0.0F);
    return;
  }
  float partial[16] = {};
  for (int64_t j = 0; j < keys; ++j) {
    if (!allowed[j]) continue;
    score[j] = exponential(score[j] - most);
    partial[j % 16] += score[j];
  }
  for (int half = 8; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) partial[j] += partial[j + half];
  }
  for (size_t d = 0; d < x.value_dim; ++d) {
    float total = 0.0F;
    bool first_block = true;
    for (int64_t begin = 0; begin < keys; begin += 64) {
      float block = 0.0F;
      bool empty = true;
      for (int64_t j = begin; j < std::min<int64_t>(keys, begin + 64); ++j) {
        if (!allowed[j]) continue;
        const float v =
            x.v[(k_begin + j) * x.v_token + kv_head * x.v_head + static_cast<ptrdiff_t>(d)];
        block = empty ? score[j] * v : std::fma(score[j], v, block);
        empty = false;
      }
      if (empty) continue;
      total = first_block ? block : total + block;
      first_block = false;
    }
    out[d] = total / partial[0];
  }
}

/// Bit equality as the contract means it: NaN equals NaN, signed zeros count.
template <class T>
bool same_bits(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace capra::kernels
