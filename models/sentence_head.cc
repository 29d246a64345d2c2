// The head on the CPU's kernels.
#include "models/sentence_head.h"

#include <algorithm>
#include <array>

#include "capra/base/number_text.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "capra/targets/cpu/kernels/normalize.h"

namespace capra {
namespace {

struct PoolingRow {
  Pooling pooling;
  std::string_view name;
  kernels::Pooling kernel;
};
constexpr PoolingRow kPoolings[] = {
    {Pooling::Cls, "cls", kernels::Pooling::Cls},
    {Pooling::Mean, "mean", kernels::Pooling::Mean},
    {Pooling::Max, "max", kernels::Pooling::Max},
    {Pooling::MeanSqrtLen, "mean_sqrt_len", kernels::Pooling::MeanSqrtLen},
    {Pooling::WeightedMean, "weighted_mean", kernels::Pooling::WeightedMean},
    {Pooling::LastToken, "last_token", kernels::Pooling::LastToken},
};

const PoolingRow& row(Pooling pooling) { return kPoolings[static_cast<size_t>(pooling)]; }

// The contract's order: 16 partials, product and sum each rounded.
double dot(const float* weight, const double* x, int64_t n) {
  std::array<double, 16> partial{};
  for (int64_t i = 0; i < n; ++i) partial[static_cast<size_t>(i % 16)] += weight[i] * x[i];
  for (const size_t half : {8, 4, 2, 1}) {
    for (size_t j = 0; j < half; ++j) partial[j] += partial[j + half];
  }
  return partial[0];
}

void activate(nn::Activation activation, std::span<double> x) {
  const auto unary = [&](kernels::UnaryOp op) {
    kernels::unary(kernels::kernels(), op, kernels::Element::F64, x.data(), x.data(),
                   static_cast<int64_t>(x.size()));
  };
  switch (activation) {
    case nn::Activation::GeluExact:
      return unary(kernels::UnaryOp::GeluExact);
    case nn::Activation::GeluTanh:
      return unary(kernels::UnaryOp::GeluTanh);
    case nn::Activation::Relu:
      return unary(kernels::UnaryOp::Relu);
    case nn::Activation::Silu:
      return unary(kernels::UnaryOp::Silu);
    case nn::Activation::Tanh:
      return unary(kernels::UnaryOp::Tanh);
    case nn::Activation::Sigmoid:
      return unary(kernels::UnaryOp::Sigmoid);
    case nn::Activation::Identity:
      return;
  }
}

void run(const DenseStep& dense, std::vector<double>& x, std::vector<double>& y) {
  y.resize(static_cast<size_t>(dense.out));
  const float* weight = dense.weight.as<float>().data();
  for (int64_t o = 0; o < dense.out; ++o) {
    const double sum = dot(weight + o * dense.in, x.data(), dense.in);
    const auto at = static_cast<size_t>(o);
    y[at] = dense.bias ? sum + dense.bias->as<float>()[at] : sum;
  }
  activate(dense.activation, y);
  x.swap(y);
}

}  // namespace

std::string_view pooling_name(Pooling pooling) { return row(pooling).name; }

Result<Pooling> find_pooling(std::string_view name) {
  std::string known;
  for (const PoolingRow& r : kPoolings) {
    if (r.name == name) return r.pooling;
    known += (known.empty() ? "" : ", ") + std::string(r.name);
  }
  return fail("pooling-unknown", "there is no pooling called '" + std::string(name) + "'", {},
              "use one of " + known);
}

Result<SentenceHead> SentenceHead::make(int64_t hidden_size, std::vector<Pooling> poolings,
                                        std::vector<Step> steps) {
  CAPRA_CHECK(!poolings.empty());
  SentenceHead head;
  head.hidden_size_ = hidden_size;
  head.dimension_ = hidden_size * static_cast<int64_t>(poolings.size());
  head.widest_ = head.dimension_;
  for (const Step& step : steps) {
    const auto* dense = std::get_if<DenseStep>(&step);
    if (dense == nullptr) continue;
    if (dense->in != head.dimension_) {
      return fail("dense-shape", "a dense layer takes " + number_text(dense->in) +
                                     " numbers, and " + number_text(head.dimension_) +
                                     " come from what stands before it");
    }
    head.dimension_ = dense->out;
    head.widest_ = std::max(head.widest_, dense->out);
  }
  head.poolings_ = std::move(poolings);
  head.steps_ = std::move(steps);
  return head;
}

bool SentenceHead::normalizes() const {
  return std::ranges::any_of(
      steps_, [](const Step& step) { return std::holds_alternative<NormalizeStep>(step); });
}

void SentenceHead::pool_into(std::span<const float> hidden, int64_t tokens, int64_t prompt_tokens,
                             std::vector<double>& pooled) const {
  pooled.resize(static_cast<size_t>(hidden_size_) * poolings_.size());
  for (size_t p = 0; p < poolings_.size(); ++p) {
    const int64_t skipped = poolings_[p] == Pooling::Cls ? 0 : prompt_tokens;
    kernels::pool(kernels::kernels(), row(poolings_[p]).kernel,
                  hidden.data() + skipped * hidden_size_, tokens - skipped, hidden_size_,
                  pooled.data() + p * static_cast<size_t>(hidden_size_));
  }
}

std::vector<double> SentenceHead::pool(std::span<const float> hidden, int64_t tokens,
                                       int64_t prompt_tokens) const {
  std::vector<double> pooled;
  pool_into(hidden, tokens, prompt_tokens, pooled);
  return pooled;
}

void SentenceHead::apply(std::span<const float> hidden, int64_t tokens, std::span<float> vector,
                         int64_t prompt_tokens) const {
  // Kept between calls of one thread, so that a steady state allocates nothing.
  thread_local std::vector<double> x;
  thread_local std::vector<double> y;
  x.reserve(static_cast<size_t>(widest_));
  y.reserve(static_cast<size_t>(widest_));
  pool_into(hidden, tokens, prompt_tokens, x);
  const kernels::KernelTable& table = kernels::kernels();
  for (const Step& step : steps_) {
    if (const auto* dense = std::get_if<DenseStep>(&step)) {
      run(*dense, x, y);
    } else {
      kernels::l2_normalize(x.data(), x.data(), static_cast<int64_t>(x.size()));
    }
  }
  kernels::round_to_f32(table, x.data(), vector.data(), dimension_);
}

}  // namespace capra
