// The modules that models are made of. Each call is made of ops on tensors, so it computes or
// records as the sink of its operands does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capra/nn/module.h"

namespace capra::nn {

/// x [..., in] to x W^T + b [..., out]. Parameters: `weight` [out, in], `bias` [out] if there is
/// one.
class Linear : public Module {
 public:
  Linear(std::string path, int64_t in, int64_t out, bool bias = true)
      : Module(std::move(path)), in_(in), out_(out), bias_(bias) {}
  Tensor operator()(const Tensor& x) const;

 private:
  int64_t in_;
  int64_t out_;
  bool bias_;
};

/// Layer norm over the last axis of x [..., size]. Parameters: `weight` [size], `bias` [size].
class LayerNorm : public Module {
 public:
  LayerNorm(std::string path, int64_t size, double eps)
      : Module(std::move(path)), size_(size), eps_(eps) {}
  Tensor operator()(const Tensor& x) const;

 private:
  int64_t size_;
  double eps_;
};

/// A table of vectors, one a row. Parameter: `weight` [rows, size] of `dtype`.
class Embedding : public Module {
 public:
  Embedding(std::string path, int64_t rows, int64_t size, DType dtype = DType::F32)
      : Module(std::move(path)), rows_(rows), size_(size), dtype_(dtype) {}
  /// The rows that `ids` [n] name: [n, size].
  Tensor operator()(const Tensor& ids) const;
  /// Rows 0 to `count` of the table: [count, size]. Needs no index tensor.
  Tensor first_rows(const Context& context, const Dim& count) const;
  /// Row `index` as a vector [size].
  Tensor row(const Context& context, int64_t index) const;

 private:
  Tensor table(const Context& context) const;

  int64_t rows_;
  int64_t size_;
  DType dtype_;
};

/// Multi-head attention of packed sequences on themselves: x [tokens, size] to [tokens, size].
/// Parts: `query`, `key`, `value`, `output`, all linear with bias.
class SelfAttention : public Module {
 public:
  SelfAttention(std::string path, int64_t size, int64_t heads)
      : Module(std::move(path)), size_(size), heads_(heads) {}
  /// `offsets` [sequences + 1] marks the sequences; empty: all tokens are one sequence.
  Tensor operator()(const Tensor& x, const Tensor& offsets) const;

 private:
  int64_t size_;
  int64_t heads_;
};

/// The activation functions that checkpoints name.
enum class Activation : uint8_t { GeluExact, GeluTanh, Relu, Silu, Tanh, Sigmoid, Identity };

/// `gelu (exact, erf)`, `gelu (tanh form)`, `relu`...
std::string_view activation_text(Activation activation);
Tensor activate(Activation activation, const Tensor& x);

}  // namespace capra::nn
