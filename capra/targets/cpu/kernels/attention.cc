// Attention over packed sequences. Of one sequence and head, the keys are transposed and the values
// copied once, into scratch that stays in the cache; then a few queries at a time make their
// scores, their weights and their output with the tiles of the matrix product.
#include "capra/targets/cpu/kernels/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capra/targets/cpu/kernels/attention.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/math.h"
#include "capra/targets/cpu/kernels/matmul_pack.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE size_t panels_of(size_t columns) { return (columns + kPanel - 1) / kPanel; }

// Scratch in floats. Every part is a multiple of 16 of them.
struct Scratch {
  float* keys;     // [key panels, head_dim, kPanel]
  float* values;   // [value panels, keys, kPanel]
  float* queries;  // [blocks of head_dim, kTileRows, kBlock]
  float* weights;  // [blocks of keys, kTileRows, kBlock]: scores, then their exponentials
  float* total;    // [kTileRows, kTotalStride]
  float* block;    // the same
  size_t floats;
};
Scratch split(float* scratch, size_t keys, size_t head_dim, size_t value_dim) {
  Scratch s;
  float* next = scratch;
  const auto take = [&next](size_t floats) HWY_ATTR {
    float* begin = next;
    next += floats;
    return begin;
  };
  s.keys = take(panels_of(keys) * head_dim * kPanel);
  s.values = take(panels_of(value_dim) * keys * kPanel);
  s.queries = take(padded(head_dim) * kTileRows);
  s.weights = take((padded(keys) + kBlock) * kTileRows);
  s.total = take(kTileRows * kTotalStride);
  s.block = take(kTileRows * kTotalStride);
  s.floats = static_cast<size_t>(next - scratch);
  return s;
}

size_t scratch_bytes(size_t keys, size_t head_dim, size_t value_dim) {
  return split(nullptr, keys, head_dim, value_dim).floats * sizeof(float);
}

// What one call works on.
struct Job {
  const AttentionF32* args;
  Scratch scratch;
  size_t queries;      // of the whole sequence
  size_t keys;         // of the whole sequence
  size_t counted;      // keys within key_lengths
  size_t packed_keys;  // keys that some query of the call sees
  const float* mask;   // of this sequence and head

  // Keys that query i sees: always the first ones.
  HWY_INLINE size_t visible(size_t i) const {
    if (!args->causal) return counted;
    if (i + keys < queries) return 0;
    return least(counted, i + keys - queries + 1);
  }
};

// Columns of the panel of keys that starts at key j: the last one may be a single vector.
HWY_INLINE size_t panel_width(const Job& job, size_t j) {
  return job.packed_keys - j <= F32x16::kLanes ? F32x16::kLanes : kPanel;
}

// Scores of `rows` queries for all packed keys, not yet scaled.
void make_scores(const Job& job, size_t rows, size_t seen) {
  const Scratch& s = job.scratch;
  const size_t head_dim = job.args->head_dim;
  const auto tile = tile_function<F32x16, kTileVectors>(rows);
  for (size_t j = 0; j < seen; j += kPanel) {
    const auto function = panel_width(job, j) == kPanel ? tile : tile_function<F32x16, 1>(rows);
    function(s.queries, s.keys + j * head_dim, head_dim, s.keys, 0,
             s.weights + j / kBlock * kBlock * rows + j % kBlock);
  }
}

// 16 mask values from key j on, of which `count` exist.
HWY_INLINE F32x16 load_mask(const float* mask, ptrdiff_t stride, size_t j, size_t count) {
  if (stride == 1) {
    return count >= 16 ? F32x16::load(mask + j) : F32x16::load_partial(mask + j, count);
  }
  float lane[16] = {};
  for (size_t i = 0; i < count && i < 16; ++i)
    lane[i] = mask[static_cast<ptrdiff_t>(j + i) * stride];
  return F32x16::load(lane);
}

// A row of scores or weights, which lies in pieces of kBlock among those of `rows` rows.
struct Row {
  float* first;
  size_t rows;
  HWY_INLINE float* at(size_t j) const { return first + j / kBlock * kBlock * rows + j % kBlock; }
};

// Scales the scores, adds the mask and returns the largest, a NaN only if the others are -infinity:
// any other NaN reaches the result through the sum of the weights. The sign of a zero does not
// matter.
float scale_scores(const Job& job, size_t query, Row row) {
  const size_t visible = job.visible(query);
  const F32x16 scale = F32x16::all(job.args->scale);
  const F32x16 lowest = F32x16::all(-__builtin_inff());
  F32x16 most0 = lowest;
  size_t j = 0;
  if (job.mask == nullptr) {
    // Four maxima: one would be a chain of waiting instructions.
    F32x16 most1 = lowest;
    F32x16 most2 = lowest;
    F32x16 most3 = lowest;
    for (; j + kBlock <= visible; j += kBlock) {
      float* p = row.at(j);
      const F32x16 x0 = mul(F32x16::load(p), scale);
      const F32x16 x1 = mul(F32x16::load(p + 16), scale);
      const F32x16 x2 = mul(F32x16::load(p + 32), scale);
      const F32x16 x3 = mul(F32x16::load(p + 48), scale);
      store(x0, p);
      store(x1, p + 16);
      store(x2, p + 32);
      store(x3, p + 48);
      most0 = max(x0, most0);
      most1 = max(x1, most1);
      most2 = max(x2, most2);
      most3 = max(x3, most3);
    }
    most0 = max(max(most0, most1), max(most2, most3));
  }
  const float* mask = job.mask;
  if (mask != nullptr) mask += static_cast<ptrdiff_t>(query) * job.args->mask_query;
  for (; j < visible; j += 16) {
    float* p = row.at(j);
    F32x16 x = mul(F32x16::load(p), scale);
    if (mask != nullptr) x = add(x, load_mask(mask, job.args->mask_key, j, visible - j));
    store(x, p);
    if (visible - j < 16) x = select(F32x16::Mask::first(visible - j), x, lowest);
    most0 = max(x, most0);
  }
  const float most = max_lanes(most0);
  if (most != -__builtin_inff()) return most;
  for (j = 0; j < visible; ++j) {
    if (is_nan(F32x1::load(row.at(j))).value) return __builtin_nanf("");
  }
  return most;
}

// Turns a row of scores into exponentials and returns their sum: 0 for a row that sees nothing,
// whose weights then mean nothing.
float weigh(const Job& job, size_t query, Row row, float most) {
  if (most == -__builtin_inff()) return 0.0F;
  const size_t visible = job.visible(query);
  const F32x16 top = F32x16::all(most);
  F32x16 sums = F32x16::all(0.0F);
  size_t j = 0;
  for (; j + kBlock <= visible; j += kBlock) {
    float* p = row.at(j);
    const F32x16 e0 = exp_nonpositive(sub(F32x16::load(p), top));
    const F32x16 e1 = exp_nonpositive(sub(F32x16::load(p + 16), top));
    const F32x16 e2 = exp_nonpositive(sub(F32x16::load(p + 32), top));
    const F32x16 e3 = exp_nonpositive(sub(F32x16::load(p + 48), top));
    store(e0, p);
    store(e1, p + 16);
    store(e2, p + 32);
    store(e3, p + 48);
    sums = add(add(add(add(sums, e0), e1), e2), e3);
  }
  const F32x16 zero = F32x16::all(0.0F);
  for (; j + 16 <= visible; j += 16) {
    float* p = row.at(j);
    const F32x16 e = exp_nonpositive(sub(F32x16::load(p), top));
    store(e, p);
    sums = add(sums, e);
  }
  if (j < visible) {
    float* p = row.at(j);
    const auto seen = F32x16::Mask::first(visible - j);
    // Lanes of no key take part as 0: what lies there could be slow to compute with. A partial sum
    // is never -0, so that adding 0 changes no bit.
    const F32x16 e = exp_nonpositive(select(seen, sub(F32x16::load(p), top), zero));
    store(e, p);
    sums = add(sums, select(seen, e, zero));
  }
  return sum_lanes(sums);
}

// The sums over the keys of one panel of values into total. All rows see at least `common` keys;
// row r sees visible(query + r), and takes no step for the others.
void sum_values(const Job& job, const float* values, size_t query, size_t rows, size_t common) {
  const Scratch& s = job.scratch;
  const size_t last = job.visible(query + rows - 1);
  const size_t whole = common == last ? common : common / kBlock * kBlock;
  if (whole > 0) {
    tile_function<F32x16, kTileVectors>(rows)(s.weights, values, whole, values, 0, s.total);
  }
  for (size_t begin = whole; begin < last; begin += kBlock) {
    const size_t end = least(begin + kBlock, last);
    const size_t shared = common > begin ? least(common, end) : begin;
    const float* weights = s.weights + begin * rows;
    if (shared > begin) {
      tile_function<F32x16, kTileVectors>(rows)(weights, values + begin * kPanel, shared - begin,
                                                values, 0, s.block);
    }
    for (size_t r = 0; r < rows; ++r) {
      const size_t stop = least(end, job.visible(query + r));
      if (stop <= begin) continue;
      using Cols = Columns<F32x16, kTileVectors>;
      const float* weight = weights + r * kBlock;
      float* const total = s.total + r * kTotalStride;
      size_t j = shared;
      Cols sum;
      if (shared > begin) {
        sum = Cols::load(s.block + r * kTotalStride);
      } else {
        sum = mul(F32x16::all(weight[0]), Cols::load(values + j * kPanel));
        ++j;
      }
      for (; j < stop; ++j) {
        sum = fma(F32x16::all(weight[j - begin]), Cols::load(values + j * kPanel), sum);
      }
      if (begin > 0) sum = add(Cols::load(total), sum);
      sum.store_to(total);
    }
  }
}

// The output of `rows` queries from `query` on.
void attend(const Job& job, size_t head, size_t query, size_t rows, float* out) {
  const AttentionF32& args = *job.args;
  const Scratch& s = job.scratch;
  const size_t seen = job.visible(query + rows - 1);
  make_scores(job, rows, seen);
  float sum[kTileRows];
  for (size_t r = 0; r < rows; ++r) {
    sum[r] = scale_scores(job, query + r, Row{s.weights + r * kBlock, rows});
  }
  for (size_t r = 0; r < rows; ++r) {
    sum[r] = weigh(job, query + r, Row{s.weights + r * kBlock, rows}, sum[r]);
  }

  out += static_cast<ptrdiff_t>(head) * args.out_head;
  for (size_t col = 0; col < args.value_dim; col += kPanel) {
    sum_values(job, s.values + col * job.packed_keys, query, rows, job.visible(query));
    const size_t columns = least(kPanel, args.value_dim - col);
    for (size_t r = 0; r < rows; ++r) {
      float* to = out + static_cast<ptrdiff_t>(query + r) * args.out_token + col;
      // With a key allowed the sum is at least the largest weight, 1.
      const bool nothing = sum[r] == 0.0F;
      for (size_t j = 0; j < columns; j += 16) {
        const F32x16 quotient =
            div(F32x16::load(s.total + r * kTotalStride + j), F32x16::all(sum[r]));
        store_columns(nothing ? F32x16::all(0.0F) : quotient, to + j, columns - j);
      }
    }
  }
}

void f32(const AttentionF32& args, size_t sequence, size_t head, size_t query_begin,
         size_t query_end, void* scratch) {
  if (query_begin >= query_end) return;
  const auto q_first = static_cast<ptrdiff_t>(args.q_offsets[sequence]);
  const auto k_first = static_cast<ptrdiff_t>(args.k_offsets[sequence]);
  Job job;
  job.args = &args;
  job.queries = static_cast<size_t>(args.q_offsets[sequence + 1] - args.q_offsets[sequence]);
  job.keys = static_cast<size_t>(args.k_offsets[sequence + 1] - args.k_offsets[sequence]);
  job.counted = job.keys;
  if (args.key_lengths != nullptr) {
    const int64_t length = args.key_lengths[sequence];
    job.counted = length < 0 ? 0 : least(job.keys, static_cast<size_t>(length));
  }
  job.packed_keys = job.visible(query_end - 1);
  job.mask = nullptr;
  if (args.mask != nullptr) {
    job.mask = args.mask + static_cast<ptrdiff_t>(head) * args.mask_head;
  }
  job.scratch = split(static_cast<float*>(scratch), job.packed_keys, args.head_dim, args.value_dim);
  const Scratch& s = job.scratch;

  const auto kv_head = static_cast<ptrdiff_t>(head / (args.heads / args.kv_heads));
  const float* keys = args.k + k_first * args.k_token + kv_head * args.k_head;
  const float* values = args.v + k_first * args.v_token + kv_head * args.v_head;
  for (size_t j = 0; j < job.packed_keys; j += kPanel) {
    pack_panel<F32x16>(keys + static_cast<ptrdiff_t>(j) * args.k_token, 1, args.k_token,
                       args.head_dim, least(kPanel, job.packed_keys - j), panel_width(job, j),
                       s.keys + j * args.head_dim);
  }
  for (size_t col = 0; col < args.value_dim; col += kPanel) {
    pack_panel<F32x16>(values + col, args.v_token, 1, job.packed_keys,
                       least(kPanel, args.value_dim - col), kPanel,
                       s.values + col * job.packed_keys);
  }

  const float* queries =
      args.q + q_first * args.q_token + static_cast<ptrdiff_t>(head) * args.q_head;
  float* out = args.out + q_first * args.out_token;
  const size_t count = query_end - query_begin;
  const size_t tiles = (count + kTileRows - 1) / kTileRows;
  for (size_t t = 0; t < tiles; ++t) {
    const size_t query = query_begin + count * t / tiles;
    const size_t rows = query_begin + count * (t + 1) / tiles - query;
    pack_rows<F32x16>(queries + static_cast<ptrdiff_t>(query) * args.q_token, args.q_token, 1, rows,
                      args.head_dim, s.queries);
    attend(job, head, query, rows, out);
  }
}

}  // namespace

void fill(AttentionKernels& table) {
  table.query_tile = kTileRows;
  table.scratch_bytes = scratch_bytes;
  table.f32 = f32;
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();
