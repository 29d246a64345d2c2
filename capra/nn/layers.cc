// Modules spelled in ops.
#include "capra/nn/layers.h"

#include "capra/ops/attention.h"
#include "capra/ops/gather.h"
#include "capra/ops/gelu.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/linear.h"
#include "capra/ops/relu.h"
#include "capra/ops/reshape.h"
#include "capra/ops/sigmoid.h"
#include "capra/ops/silu.h"
#include "capra/ops/slice.h"
#include "capra/ops/tanh.h"

namespace capra::nn {

Tensor Linear::operator()(const Tensor& x) const {
  const Tensor weight = parameter(x.context(), "weight", {x.dtype(), {out_, in_}});
  const Tensor bias = bias_ ? parameter(x.context(), "bias", {x.dtype(), {out_}}) : Tensor();
  return linear(x, weight, bias);
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  const Tensor weight = parameter(x.context(), "weight", {x.dtype(), {size_}});
  const Tensor bias = parameter(x.context(), "bias", {x.dtype(), {size_}});
  return layer_norm(x, weight, bias, {.eps = eps_});
}

Tensor Embedding::table(const Context& context) const {
  return parameter(context, "weight", {dtype_, {rows_, size_}});
}

Tensor Embedding::operator()(const Tensor& ids) const { return gather(table(ids.context()), ids); }

Tensor Embedding::first_rows(const Context& context, const Dim& count) const {
  return slice(table(context),
               {.starts = {0, 0}, .limits = Shape{count, size_}, .strides = {1, 1}});
}

Tensor Embedding::row(const Context& context, int64_t index) const {
  const Tensor one = slice(
      table(context), {.starts = {index, 0}, .limits = Shape{index + 1, size_}, .strides = {1, 1}});
  return reshape(one, {size_});
}

Tensor SelfAttention::operator()(const Tensor& x, const Tensor& offsets) const {
  const Shape by_head{x.shape()[0], heads_, size_ / heads_};
  const Tensor query = Linear(child("query"), size_, size_)(x);
  const Tensor key = Linear(child("key"), size_, size_)(x);
  const Tensor value = Linear(child("value"), size_, size_)(x);
  const Tensor query_heads = reshape(query, by_head);
  const Tensor key_heads = reshape(key, by_head);
  const Tensor value_heads = reshape(value, by_head);
  const Tensor mixed = attention(query_heads, key_heads, value_heads, offsets);
  const Tensor flat = reshape(mixed, x.shape());
  return Linear(child("output"), size_, size_)(flat);
}

std::string_view activation_text(Activation activation) {
  switch (activation) {
    case Activation::GeluExact:
      return "gelu (exact, erf)";
    case Activation::GeluTanh:
      return "gelu (tanh form)";
    case Activation::Relu:
      return "relu";
    case Activation::Silu:
      return "silu";
    case Activation::Tanh:
      return "tanh";
    case Activation::Sigmoid:
      return "sigmoid";
    case Activation::Identity:
      return "identity";
  }
  CAPRA_CHECK(false);
}

Tensor activate(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::GeluExact:
      return gelu(x, {.approximate = false});
    case Activation::GeluTanh:
      return gelu(x, {.approximate = true});
    case Activation::Relu:
      return relu(x);
    case Activation::Silu:
      return silu(x);
    case Activation::Tanh:
      return tanh(x);
    case Activation::Sigmoid:
      return sigmoid(x);
    case Activation::Identity:
      return x;
  }
  CAPRA_CHECK(false);
}

}  // namespace capra::nn
