// attention: softmax(q k^T scale + mask) v over packed sequences.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct AttentionAttrs {
  bool causal = false;
  double scale = 0.0;
  static constexpr auto fields() {
    return std::tuple{
        Field{"causal", &AttentionAttrs::causal,
              "query i sees keys up to i + (keys - queries) of its sequence"},
        Field{"scale", &AttentionAttrs::scale, "multiplies q k^T; 0 means 1 / sqrt(head_dim)"}};
  }
};

extern const OpDef kAttention;
/// q [tokens, heads, head_dim], k [ktokens, kv_heads, head_dim], v [ktokens, kv_heads, value_dim];
/// the result is [tokens, heads, value_dim]. offsets (i32 [sequences + 1]) cut q and k alike into
/// sequences; without them there is one. key_lengths (i32 [sequences]) hides the keys from there
/// on. mask is added to the scores and broadcasts to [heads, tokens, ktokens]. Empty tensors are
/// absent. kv_heads divides heads; q, k, v and mask have one float dtype. Throws `operand-dtype`,
/// `operand-shape`, `symbolic-dim` where heads, kv_heads or head_dim is a symbol,
/// `attribute-invalid` for a scale that is not finite. The numbers of offsets and key_lengths are
/// checked when they are read (`offsets-invalid`, `key-lengths-invalid`).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& offsets = {},
                 const Tensor& key_lengths = {}, const Tensor& mask = {},
                 AttentionAttrs attrs = {});

/// The factor that attributes and a head_dim stand for: `scale`, or 1 / sqrt(head_dim) where it is
/// 0.
double attention_scale(const AttentionAttrs& attrs, int64_t head_dim);

/// Whether offsets cut `tokens` tokens into sequences: they start at 0, never fall, and end at
/// `tokens`. Fails with `offsets-invalid`. Every target that runs attention asks this first.
Status check_attention_offsets(std::span<const int32_t> offsets, int64_t tokens);
/// Whether there is one length for each sequence and none is negative; one beyond its sequence
/// hides nothing. Fails with `key-lengths-invalid`.
Status check_attention_key_lengths(std::span<const int32_t> lengths, int64_t sequences);

}  // namespace capra
