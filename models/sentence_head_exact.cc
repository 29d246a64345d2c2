// The head in plain double, written to be read: the oracle's side of the comparison.
#include <cmath>
#include <numbers>

#include "models/sentence_head.h"

namespace capra {
namespace {

double activated(nn::Activation activation, double x) {
  switch (activation) {
    case nn::Activation::GeluExact:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case nn::Activation::GeluTanh: {
      const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    }
    case nn::Activation::Relu:
      return x < 0 ? 0 : x;
    case nn::Activation::Silu:
      return x / (1 + std::exp(-x));
    case nn::Activation::Tanh:
      return std::tanh(x);
    case nn::Activation::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case nn::Activation::Identity:
      return x;
  }
  return x;
}

// One dimension of the states, over the tokens.
double pooled_value(Pooling pooling, const double* column, int64_t tokens, int64_t stride) {
  const auto at = [&](int64_t token) { return column[token * stride]; };
  switch (pooling) {
    case Pooling::Cls:
      return at(0);
    case Pooling::LastToken:
      return at(tokens - 1);
    case Pooling::Max: {
      double largest = at(0);
      for (int64_t t = 1; t < tokens; ++t) {
        // A NaN stays.
        if (!(at(t) <= largest) && !std::isnan(largest)) largest = at(t);
      }
      return largest;
    }
    case Pooling::Mean:
    case Pooling::MeanSqrtLen: {
      double sum = 0;
      for (int64_t t = 0; t < tokens; ++t) sum += at(t);
      const auto n = static_cast<double>(tokens);
      return sum / (pooling == Pooling::Mean ? n : std::sqrt(n));
    }
    case Pooling::WeightedMean: {
      double sum = 0;
      double weights = 0;
      for (int64_t t = 0; t < tokens; ++t) {
        sum += at(t) * static_cast<double>(t + 1);
        weights += static_cast<double>(t + 1);
      }
      return sum / weights;
    }
  }
  return 0;
}

std::vector<double> run(const DenseStep& dense, const std::vector<double>& x) {
  std::vector<double> y;
  for (int64_t o = 0; o < dense.out; ++o) {
    double sum = 0;
    for (int64_t i = 0; i < dense.in; ++i) {
      sum += dense.weight[static_cast<size_t>(o * dense.in + i)] * x[static_cast<size_t>(i)];
    }
    if (!dense.bias.empty()) sum += dense.bias[static_cast<size_t>(o)];
    y.push_back(activated(dense.activation, sum));
  }
  return y;
}

void normalize(std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double length = std::fmax(std::sqrt(squares), 1e-12);
  for (double& value : x) value /= length;
}

}  // namespace

std::vector<double> SentenceHead::apply_exact(std::span<const double> hidden, int64_t tokens,
                                              std::vector<double>* pooled,
                                              int64_t prompt_tokens) const {
  std::vector<double> x;
  for (const Pooling pooling : poolings_) {
    const int64_t skipped = pooling == Pooling::Cls ? 0 : prompt_tokens;
    const double* first = hidden.data() + skipped * hidden_size_;
    for (int64_t i = 0; i < hidden_size_; ++i) {
      x.push_back(pooled_value(pooling, first + i, tokens - skipped, hidden_size_));
    }
  }
  if (pooled != nullptr) *pooled = x;
  for (const Step& step : steps_) {
    if (const auto* dense = std::get_if<DenseStep>(&step)) {
      x = run(*dense, x);
    } else {
      normalize(x);
    }
  }
  return x;
}

}  // namespace capra
