// Attention on f32 over packed sequences: the interface of the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace capra::kernels {

/// softmax(q k^T scale + mask) v for every sequence and head. Tokens of all sequences stand in one
/// tensor; strides are in elements, so q, k and v may be slices of one product.
struct AttentionF32 {
  const float* q = nullptr;  ///< [query tokens, heads, head_dim]
  ptrdiff_t q_token = 0;
  ptrdiff_t q_head = 0;
  const float* k = nullptr;  ///< [key tokens, kv_heads, head_dim]
  ptrdiff_t k_token = 0;
  ptrdiff_t k_head = 0;
  const float* v = nullptr;  ///< [key tokens, kv_heads, value_dim]
  ptrdiff_t v_token = 0;
  ptrdiff_t v_head = 0;
  float* out = nullptr;  ///< [query tokens, heads, value_dim]
  ptrdiff_t out_token = 0;
  ptrdiff_t out_head = 0;

  size_t heads = 0;
  size_t kv_heads = 0;   ///< divides heads; head h reads kv head h / (heads / kv_heads)
  size_t head_dim = 0;   ///< at most kMaxHeadDim
  size_t value_dim = 0;  ///< at most kMaxHeadDim
  float scale = 1.0F;

  size_t sequences = 0;
  const int64_t* q_offsets = nullptr;    ///< [sequences + 1], ascending from 0
  const int64_t* k_offsets = nullptr;    ///< [sequences + 1]
  const int64_t* key_lengths = nullptr;  ///< [sequences]: later keys are excluded; or none
  bool causal = false;  ///< query i sees keys up to i + (keys - queries) of its sequence

  /// Added to the scores: mask[h * mask_head + i * mask_query + j * mask_key], i and j counted from
  /// the start of the sequence; or none. A stride may be 0.
  const float* mask = nullptr;
  ptrdiff_t mask_head = 0;
  ptrdiff_t mask_query = 0;
  ptrdiff_t mask_key = 1;

  static constexpr size_t kMaxHeadDim = 256;
};

/// One instruction set's attention. Single-threaded; allocates nothing; scratch is 64-byte aligned.
/// A query with no key allowed, or with a score of -infinity for all of them, gives zeros.
struct AttentionKernels {
  /// `keys`: the longest sequence's.
  size_t (*scratch_bytes)(size_t keys, size_t head_dim, size_t value_dim) = nullptr;
  /// The queries query_begin to query_end of one sequence, counted from its start, in one head.
  void (*f32)(const AttentionF32& args, size_t sequence, size_t head, size_t query_begin,
              size_t query_end, void* scratch) = nullptr;
  size_t query_tile = 0;  ///< a good multiple for query_begin
};

}  // namespace capra::kernels
