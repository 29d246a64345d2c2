// Attention over packed sequences, split over threads: shared by the row and the fused group.
#pragma once

#include "capra/targets/cpu/cpu_step.h"

namespace capra::cpu {

/// What one call of attention works on. q, k and v are [tokens, heads, dim] with last stride 1.
struct AttentionJob {
  View q;
  View k;
  View v;
  View out;                           ///< contiguous
  const View* offsets = nullptr;      ///< i32 [sequences + 1]; null: one sequence
  const View* key_lengths = nullptr;  ///< i32 [sequences], or null
  const View* mask = nullptr;         ///< broadcasts to [heads, tokens, ktokens], or null
  double scale = 1;
  bool causal = false;
};

/// f32 by the table's kernel, f64 by portable loops in the same order. Fails with `offsets-invalid`
/// or `key-lengths-invalid`.
Status run_attention(const KernelTable& table, const AttentionJob& job, ThreadPool& pool,
                     Scratch& scratch);

/// 2 m n k of both products, from the sequences' lengths.
double attention_flops(const AttentionJob& job);

/// The same for one sequence, head and range of queries in f64: interface of attention_f64.cc.
struct AttentionF64 {
  const double* q = nullptr;  ///< first query of the sequence, of the head
  ptrdiff_t q_token = 0;
  const double* k = nullptr;
  ptrdiff_t k_token = 0;
  const double* v = nullptr;
  ptrdiff_t v_token = 0;
  double* out = nullptr;
  ptrdiff_t out_token = 0;
  int64_t head_dim = 0;
  int64_t value_dim = 0;
  double scale = 1;
  const double* mask = nullptr;  ///< of the sequence's first query and key
  ptrdiff_t mask_query = 0;
  ptrdiff_t mask_key = 0;
};
/// One query that sees the first `keys` keys; `weights` holds `keys` values.
void attend_f64(const KernelTable& table, const AttentionF64& args, int64_t query, int64_t keys,
                double* weights);

}  // namespace capra::cpu
