// Attention on f64: one query at a time, in the order of the contract.
#include <cmath>
#include <limits>

#include "capra/targets/cpu/attention.h"
#include "capra/targets/cpu/kernels/elementwise.h"

namespace capra::cpu {
namespace {

constexpr int64_t kBlock = 64;
constexpr int kPartials = 16;

// The sum over k of a[k] b[k] in blocks of 64, fused steps.
double blocked_dot(const double* a, ptrdiff_t a_step, const double* b, ptrdiff_t b_step,
                   int64_t count) {
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    double sum = a[begin * a_step] * b[begin * b_step];
    for (int64_t i = begin + 1; i < end; ++i) sum = std::fma(a[i * a_step], b[i * b_step], sum);
    total = begin == 0 ? sum : total + sum;
  }
  return total;
}

double partial_sum(const double* x, int64_t count) {
  double partial[kPartials] = {};
  for (int64_t i = 0; i < count; ++i) partial[i % kPartials] += x[i];
  for (int half = kPartials / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) partial[j] += partial[j + half];
  }
  return partial[0];
}

double maximum(const double* x, int64_t count) {
  double most = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(x[i])) return x[i];
    most = std::max(most, x[i]);
  }
  return most;
}

}  // namespace

void attend_f64(const KernelTable& table, const AttentionF64& args, int64_t query, int64_t keys,
                double* weights) {
  double* out = args.out + query * args.out_token;
  for (int64_t j = 0; j < keys; ++j) {
    double score =
        blocked_dot(args.q + query * args.q_token, 1, args.k + j * args.k_token, 1, args.head_dim);
    score *= args.scale;
    if (args.mask != nullptr) score += args.mask[query * args.mask_query + j * args.mask_key];
    weights[j] = score;
  }
  const double most = maximum(weights, keys);
  if (most == -std::numeric_limits<double>::infinity()) {
    std::fill(out, out + args.value_dim, 0.0);
    return;
  }
  for (int64_t j = 0; j < keys; ++j) weights[j] -= most;
  kernels::unary(table, kernels::UnaryOp::Exp, Element::F64, weights, weights, keys);
  const double sum = partial_sum(weights, keys);
  for (int64_t d = 0; d < args.value_dim; ++d) {
    out[d] = blocked_dot(weights, 1, args.v + d, args.v_token, keys) / sum;
  }
}

}  // namespace capra::cpu
