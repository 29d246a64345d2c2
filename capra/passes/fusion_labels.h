// Labels of the groups that the fusions make, and the fixed form of each. A group's body is made of
// existing ops, one node a rounding point; running the body node by node gives the bits of the
// group. Operands stand in the order given here; an operand in brackets may be left out, and then
// the op in the body lacks it too. Attributes (epsilon, which activation, scale) are read from the
// body.
#pragma once

#include <string_view>

namespace capra {

/// (x, weight_q, weight_k, weight_v [, bias_q, bias_k, bias_v]) -> [..., q + k + v].
/// Body: three linears on x, then concat on the last axis. All three have a bias or none has. The
/// parts are taken out again by slices outside of the group.
inline constexpr std::string_view kFusedQkv = "qkv";

/// (qkv, [offsets], [key_lengths], [mask]) -> [tokens, heads, head_dim].
/// Body: three slices of the last axis of qkv [tokens, q + k + v], each reshaped to
/// [tokens, heads, head_dim], then attention. No part of qkv is copied.
inline constexpr std::string_view kFusedAttentionQkv = "attention_qkv";

/// (x, weight, [bias]) -> [..., out]. Body: linear, then one of gelu, relu, silu, tanh, sigmoid.
inline constexpr std::string_view kFusedLinearActivation = "linear_activation";

/// (x, weight, [bias], residual) -> [..., out]. Body: linear, then add of an operand of its type.
inline constexpr std::string_view kFusedLinearAdd = "linear_add";

/// (x, weight, [bias], residual, [gamma], [beta]) -> [..., out]. Body: linear, add, layer_norm.
inline constexpr std::string_view kFusedLinearAddLayerNorm = "linear_add_layer_norm";

/// (x, residual, [gamma], [beta]). Body: add of two operands of one type, then layer_norm.
inline constexpr std::string_view kFusedAddLayerNorm = "add_layer_norm";

/// (terms..., [gamma], [beta]) -> [tokens, hidden]. Body: a chain ((t0 + t1) + t2)... of two or
/// more terms, then layer_norm. A term is a gather on axis 0 of a table by a list of rows, whose
/// operands are (table, rows), or a value that broadcasts to the result; at least one is a gather.
/// Operands stand in the order of the terms. In the body all gathers come first, then the adds.
inline constexpr std::string_view kFusedEmbeddingLayerNorm = "embedding_layer_norm";

}  // namespace capra
