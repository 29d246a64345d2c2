// The record of attention.
#include "capra/ops/attention.h"

#include <fmt/format.h>
#include <cmath>
#include <limits>

#include "capra/ops/arithmetic.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/compare.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/gather.h"
#include "capra/ops/iota.h"
#include "capra/ops/logical_and.h"
#include "capra/ops/matmul.h"
#include "capra/ops/permute.h"
#include "capra/ops/reshape.h"
#include "capra/ops/select.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/slice.h"
#include "capra/ops/softmax.h"
#include "capra/ops/sum.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {
    {"q", "[tokens, heads, head_dim]"},
    {"k", "[ktokens, kv_heads, head_dim], dtype of q; kv_heads divides heads"},
    {"v", "[ktokens, kv_heads, value_dim], dtype of q"},
    {"offsets", "i32 [sequences + 1], where each sequence starts", Arity::Optional},
    {"key_lengths", "i32 [sequences], how many keys may be seen", Arity::Optional},
    {"mask", "dtype of q, added to scores; broadcasts to [heads, tokens, ktokens]",
     Arity::Optional},
};

constexpr std::string_view kParallelDims[] = {"batch", "heads"};

Failure shape_failure(std::string_view name, const TensorType& found, const std::string& needed) {
  return fail("operand-shape",
              fmt::format("{} has shape {}, {} is needed", name, found.shape.text(), needed));
}

Status check_values(const TensorType& q, const TensorType& k, const TensorType& v) {
  CAPRA_TRY(require_float(q, "q"));
  CAPRA_TRY(require_same_dtype(q, "q", k, "k"));
  CAPRA_TRY(require_same_dtype(q, "q", v, "v"));
  if (q.shape.rank() != 3) return shape_failure("q", q, "[tokens, heads, head_dim]");
  if (k.shape.rank() != 3 || k.shape[2] != q.shape[2]) {
    return shape_failure("k", k, "[ktokens, kv_heads, " + q.shape[2].text() + "]");
  }
  if (v.shape.rank() != 3 || v.shape[0] != k.shape[0] || v.shape[1] != k.shape[1]) {
    return shape_failure("v", v,
                         "[" + k.shape[0].text() + ", " + k.shape[1].text() + ", value_dim]");
  }
  const Dim& heads = q.shape[1];
  const Dim& kv_heads = k.shape[1];
  if (!heads.is_static() || !kv_heads.is_static() || !q.shape[2].is_static()) {
    return fail("symbolic-dim", "heads and head_dim must be numbers");
  }
  if (kv_heads.size() == 0 || heads.size() % kv_heads.size() != 0) {
    return fail("operand-shape", fmt::format("{} query heads cannot share {} key heads evenly",
                                             heads.size(), kv_heads.size()));
  }
  if (q.shape[2].size() == 0) return fail("operand-shape", "head_dim is 0");
  return {};
}

Status check_sequences(const TensorType& q, const TensorType& k, const TensorType* offsets,
                       const TensorType* key_lengths) {
  if (offsets != nullptr) {
    CAPRA_TRY(require_dtype(*offsets, DType::I32, "offsets"));
    if (offsets->shape.rank() != 1 || offsets->shape[0] == Dim(0)) {
      return shape_failure("offsets", *offsets, "[sequences + 1]");
    }
    if (k.shape[0] != q.shape[0]) {
      return fail("operand-shape",
                  fmt::format("offsets cut queries and keys alike, but there are {} and {} of them",
                              q.shape[0].text(), k.shape[0].text()));
    }
  }
  if (key_lengths == nullptr) return {};
  CAPRA_TRY(require_dtype(*key_lengths, DType::I32, "key_lengths"));
  if (key_lengths->shape.rank() != 1) {
    return shape_failure("key_lengths", *key_lengths, "[sequences]");
  }
  if (offsets == nullptr) {
    if (key_lengths->shape == Shape{1}) return {};
    return shape_failure("key_lengths", *key_lengths, "[1], as there are no offsets,");
  }
  const Dim& starts = offsets->shape[0];
  const Dim& lengths = key_lengths->shape[0];
  // sequences + 1 has no name where sequences has one; the numbers are compared at run time.
  if (starts.is_static() && lengths.is_static() && starts.size() != lengths.size() + 1) {
    return shape_failure("key_lengths", *key_lengths, fmt::format("[{}]", starts.size() - 1));
  }
  return {};
}

Status check_mask(const TensorType& q, const TensorType& k, const TensorType* mask) {
  if (mask == nullptr) return {};
  CAPRA_TRY(require_same_dtype(q, "q", *mask, "mask"));
  const Shape scores{q.shape[1], q.shape[0], k.shape[0]};
  const Result<Shape> both = broadcast_shapes(mask->shape, scores);
  if (both.ok() && *both == scores) return {};
  return shape_failure("mask", *mask, "a shape that broadcasts to " + scores.text());
}

Result<TensorType> infer(const TensorType& q, const TensorType& k, const TensorType& v,
                         const TensorType* offsets, const TensorType* key_lengths,
                         const TensorType* mask, const AttentionAttrs& attrs) {
  CAPRA_TRY(check_values(q, k, v));
  CAPRA_TRY(check_sequences(q, k, offsets, key_lengths));
  CAPRA_TRY(check_mask(q, k, mask));
  if (!std::isfinite(attrs.scale)) {
    return fail("attribute-invalid", fmt::format("scale is {}", attrs.scale));
  }
  return sized_type(q.dtype, Shape{q.shape[0], q.shape[1], v.shape[2]});
}

// [tokens, kv_heads, n] as [heads, tokens, n]: each key head stands for heads / kv_heads query
// heads.
Tensor by_head(const Tensor& x, int64_t heads) {
  Tensor rows = permute(x, {1, 0, 2});
  const int64_t kv_heads = rows.shape()[0].size();
  if (kv_heads == heads) return rows;
  const Dim tokens = rows.shape()[1];
  const Dim width = rows.shape()[2];
  const Tensor apart = reshape(rows, {kv_heads, 1, tokens, width});
  const Tensor repeated = broadcast(apart, {kv_heads, heads / kv_heads, tokens, width});
  return reshape(repeated, {heads, tokens, width});
}

Tensor positions(const Tensor& like, const Dim& tokens) {
  return iota(like.context(), {.dtype = DType::I32, .shape = {tokens}, .axis = 0});
}

// Which sequence each token belongs to, counted from 1: how many starts are not after it. The last
// offset is the end of the last sequence and after every token.
Tensor sequence_numbers(const Tensor& offsets, const Tensor& position) {
  const Dim tokens = position.shape()[0];
  const Tensor column = reshape(position, {tokens, 1});
  const Tensor begun = compare(offsets, column, {.direction = "le"});
  const Tensor ones = convert(begun, DType::I32);
  return sum(ones, {.axes = {1}});
}

// Bool [tokens, ktokens] or what broadcasts to it; empty where everything is allowed.
struct Allowed {
  Tensor keys;
  void also(const Tensor& more) { keys = keys ? logical_and(keys, more) : more; }
};

// How many keys there are more than queries, as an i32 scalar, whether or not the dims are numbers.
Tensor surplus(const Tensor& q, const Tensor& k) {
  const Dim tokens = q.shape()[0];
  const Dim ktokens = k.shape()[0];
  const Tensor one = constant(q.context(), Array::scalar(DType::I32, 1));
  const Tensor key_ones = broadcast(one, {ktokens});
  const Tensor keys = sum(key_ones);
  const Tensor query_ones = broadcast(one, {tokens});
  const Tensor queries = sum(query_ones);
  return keys - queries;
}

Tensor allowed_keys(const Tensor& q, const Tensor& k, const Tensor& offsets,
                    const Tensor& key_lengths, bool causal) {
  Allowed allowed;
  if (!offsets && !key_lengths && !causal) return allowed.keys;
  const Dim tokens = q.shape()[0];
  const Dim ktokens = k.shape()[0];
  const Tensor key = positions(q, ktokens);
  Tensor sequence;
  if (offsets) {
    sequence = sequence_numbers(offsets, key);
    const Tensor column = reshape(sequence, {tokens, 1});
    const Tensor same = compare(column, sequence, {.direction = "eq"});
    allowed.also(same);
  }
  if (key_lengths) {
    Tensor limit = key_lengths;
    if (offsets) {
      const Tensor one = scalar_like(sequence, 1.0);
      const Tensor index = sequence - one;
      const Tensor start = gather(offsets, index);
      const Tensor length = gather(key_lengths, index);
      limit = start + length;
    }
    const Tensor seen = compare(key, limit, {.direction = "lt"});
    allowed.also(seen);
  }
  if (causal) {
    // Within a sequence both positions are from the same start, so they compare as they are.
    const Tensor query = tokens == ktokens ? key : positions(q, tokens);
    Tensor column = reshape(query, {tokens, 1});
    if (tokens != ktokens) {
      const Tensor shift = surplus(q, k);
      column = column + shift;
    }
    const Tensor past = compare(key, column, {.direction = "le"});
    allowed.also(past);
  }
  return allowed.keys;
}

Tensor decompose(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& offsets,
                 const Tensor& key_lengths, const Tensor& mask, const AttentionAttrs& attrs) {
  const int64_t heads = q.shape()[1].size();
  const double scale = attention_scale(attrs, q.shape()[2].size());
  const Tensor wide_q = widened(q);
  const Tensor wide_k = widened(k);
  const Tensor wide_v = widened(v);
  const Tensor queries = permute(wide_q, {1, 0, 2});
  const Tensor keys = by_head(wide_k, heads);
  const Tensor values = by_head(wide_v, heads);
  Tensor scores = matmul(queries, keys, {.transpose_b = true, .factor = scale});
  if (mask) {
    const Tensor wide_mask = widened(mask);
    scores = scores + wide_mask;
  }
  const Tensor allowed = allowed_keys(q, k, offsets, key_lengths, attrs.causal);
  if (allowed) {
    const Tensor excluded = scalar_like(scores, -std::numeric_limits<double>::infinity());
    scores = select(allowed, scores, excluded);
  }
  const Tensor weights = softmax(scores, -1);
  const Tensor mixed = matmul(weights, values);
  const Tensor result = permute(mixed, {1, 0, 2});
  return narrowed(result, q.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[3, 1, 2] [[[1, 0]], [[0, 2]], [[1, -1]]]",
                                           "f64[3, 1, 2] [[[1, 1]], [[0, 1]], [[-1, 0.5]]]",
                                           "f64[3, 1, 2] [[[1, 2]], [[3, -1]], [[0.5, 4]]]"};
constexpr std::string_view kOperands1[] = {"f64[3, 1, 2] [[[1, 0]], [[0, 2]], [[1, -1]]]",
                                           "f64[3, 1, 2] [[[1, 1]], [[0, 1]], [[-1, 0.5]]]",
                                           "f64[3, 1, 2] [[[1, 2]], [[3, -1]], [[0.5, 4]]]"};
constexpr std::string_view kOperands2[] = {"f64[3, 1, 2] [[[1, 0]], [[0, 2]], [[1, -1]]]",
                                           "f64[3, 1, 2] [[[1, 1]], [[0, 1]], [[-1, 0.5]]]",
                                           "f64[3, 1, 2] [[[1, 2]], [[3, -1]], [[0.5, 4]]]",
                                           "i32[4] [0, 2, 2, 3]"};
constexpr std::string_view kOperands3[] = {"f64[3, 1, 2] [[[1, 0]], [[0, 2]], [[1, -1]]]",
                                           "f64[3, 1, 2] [[[1, 1]], [[0, 1]], [[-1, 0.5]]]",
                                           "f64[3, 1, 2] [[[1, 2]], [[3, -1]], [[0.5, 4]]]",
                                           "i32[3] [0, 2, 3]", "i32[2] [1, 0]"};
constexpr std::string_view kOperands4[] = {"f64[2, 2, 2] [[[1, 0], [0.5, -1]], [[0, 2], [1, 1]]]",
                                           "f64[3, 1, 2] [[[1, 1]], [[0, 1]], [[-1, 0.5]]]",
                                           "f64[3, 1, 2] [[[1, 2]], [[3, -1]], [[0.5, 4]]]",
                                           "_",
                                           "i32[1] [2]",
                                           "f64[2, 3] [[0, -inf, 0], [0.5, 0, 1]]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[3, 1, 2] [[[1.497976196960831, 1.428072260862976]], [[1.7033362780393577, "
               "1.1922153512414986]], [[1.4420299197807116, 1.5722538381582964]]]",
     .source = "mpmath 1.3, 50 digits, rounded to f64, sums written out"},
    {.attrs = "causal = true, scale = 1",
     .operands = kOperands1,
     .result = "f64[3, 1, 2] [[[1, 2]], [[2, 0.5]], [[1.392325603661254, 1.5868170734657299]]]",
     .source = "mpmath 1.3, 50 digits, rounded to f64, sums written out"},
    {.operands = kOperands2,
     .result = "f64[3, 1, 2] [[[1.6604769013466862, 1.0092846479799709]], [[2, 0.5]], [[0.5, 4]]]",
     .source =
         "mpmath 1.3, 50 digits, rounded to f64, sums written out; the second sequence is empty"},
    {.operands = kOperands3,
     .result = "f64[3, 1, 2] [[[1, 2]], [[1, 2]], [[0, 0]]]",
     .source =
         "mpmath 1.3, 50 digits, rounded to f64, sums written out; nothing allowed gives zeros"},
    {.attrs = "causal = true",
     .operands = kOperands4,
     .result = "f64[2, 2, 2] [[[1, 2], [1, 2]], [[1.7550813375962908, 0.8673779936055637], "
               "[1.4604267459661247, 1.3093598810508131]]]",
     .source = "mpmath 1.3, 50 digits, rounded to f64, sums written out; two query heads share a "
               "key head"},
};

}  // namespace

constinit const OpDef kAttention{
    .name = "attention",
    .formula = "softmax(q k^T scale + mask) v, within each sequence and head",
    .summary = "Scaled dot-product attention over packed sequences.",
    .prose =
        "All sequences stand in one tensor, one after the other, with no padding. `offsets` "
        "ascends from 0 to the number of tokens and cuts queries and keys alike; without it there "
        "is one sequence, and queries and keys may differ in number. `key_lengths` hides the keys "
        "of a sequence from that number on; it does not move the causal diagonal, which ends in "
        "the corner of the last query and the last key. Exclusions combine. A query with no key "
        "allowed gives zeros; an excluded key has weight exactly 0. Query head h reads key head h "
        "/ (heads / kv_heads).",
    .operands = kOperands,
    .attrs = attrs_of<AttentionAttrs>(),
    .infer = erase_infer<infer>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_abs = 4e-6,
                 .max_ulp = 8,
                 .note = "for scores below 20 and values of magnitude 1"},
    .composite = {"capra.attention", 1},
    .parallel_dims = kParallelDims,
    .examples = kExamples,
};

double attention_scale(const AttentionAttrs& attrs, int64_t head_dim) {
  return attrs.scale != 0.0 ? attrs.scale : 1.0 / std::sqrt(static_cast<double>(head_dim));
}

Status check_attention_offsets(std::span<const int32_t> offsets, int64_t tokens) {
  const auto wrong = [](std::string what) {
    return fail("offsets-invalid", std::move(what), {},
                "offsets start at 0, never fall, and end at the number of tokens");
  };
  if (offsets.empty()) return wrong("there are no offsets");
  if (offsets.front() != 0) return wrong(fmt::format("the first offset is {}", offsets.front()));
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      return wrong(fmt::format("offset {} is {} after {}", i, offsets[i], offsets[i - 1]));
    }
  }
  if (offsets.back() != tokens) {
    return wrong(fmt::format("the last offset is {}, there are {} tokens", offsets.back(), tokens));
  }
  return {};
}

Status check_attention_key_lengths(std::span<const int32_t> lengths, int64_t sequences) {
  if (static_cast<int64_t>(lengths.size()) != sequences) {
    return fail("key-lengths-invalid", fmt::format("there are {} key lengths for {} sequences",
                                                   lengths.size(), sequences));
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) {
      return fail("key-lengths-invalid", fmt::format("key length {} is {}", i, lengths[i]));
    }
  }
  return {};
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& offsets,
                 const Tensor& key_lengths, const Tensor& mask, AttentionAttrs attrs) {
  return apply(kAttention, {q, k, v, offsets, key_lengths, mask}, pack(attrs));
}

}  // namespace capra
