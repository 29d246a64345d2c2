// Attention of every instruction set against the contract's order, bit for bit, and against softmax
// in double.
#include <gtest/gtest.h>

#include <string>

#include "capra/targets/cpu/kernels/kernel_table.h"
#include "capra/targets/cpu/kernels/math.h"
#include "tests/targets/cpu/kernels/kernel_reference.h"

namespace capra::kernels {
namespace {

// The contract's exp on one lane: math_test compares it with outside values.
float contract_exp(float x) { return HWY_NAMESPACE::exp(HWY_NAMESPACE::F32x1{x}).value; }

class Attention : public testing::TestWithParam<const KernelTable*> {
 protected:
  const AttentionKernels& table() const { return GetParam()->attention; }
};

std::string table_name(const testing::TestParamInfo<const KernelTable*>& info) {
  return isa_name(info.param->isa);
}

struct Case {
  std::vector<int64_t> q_lengths = {};
  std::vector<int64_t> k_lengths = {};  // empty: those of the queries
  size_t heads = 2;
  size_t kv_heads = 2;
  size_t head_dim = 32;
  size_t value_dim = 32;
  bool causal = false;
  std::vector<int64_t> key_lengths = {};
  int mask = 0;  // 1: [query, key], 2: [head, query, key] with -infinities, 3: [key] by a stride
  bool hostile = false;  // excluded keys and values are NaN
};

// Owns the memory of a case; q, k and v are slices of one product.
struct Built {
  AttentionF32 args;
  std::vector<int64_t> q_offsets{0};
  std::vector<int64_t> k_offsets{0};
  std::vector<float> q, kv, mask, out;

  Built(const Case& c, Seeded& seeded) {
    const std::vector<int64_t>& k_lengths = c.k_lengths.empty() ? c.q_lengths : c.k_lengths;
    int64_t longest = 0;
    for (const int64_t n : c.q_lengths) q_offsets.push_back(q_offsets.back() + n);
    for (const int64_t n : k_lengths) {
      k_offsets.push_back(k_offsets.back() + n);
      longest = std::max(longest, n);
    }
    args.heads = c.heads;
    args.kv_heads = c.kv_heads;
    args.head_dim = c.head_dim;
    args.value_dim = c.value_dim;
    args.scale = 1.0F / std::sqrt(static_cast<float>(c.head_dim));
    const size_t q_token = c.heads * c.head_dim + 3;
    const size_t kv_token = c.kv_heads * (c.head_dim + c.value_dim) + 5;
    q = seeded.units(static_cast<size_t>(q_offsets.back()) * q_token + 1);
    kv = seeded.units(static_cast<size_t>(k_offsets.back()) * kv_token + 1);
    for (float& x : q) x *= 6.0F;
    if (c.hostile) {
      for (size_t s = 0; s < k_lengths.size(); ++s) {
        for (int64_t j = c.key_lengths[s]; j < k_lengths[s]; ++j) {
          std::fill_n(&kv[static_cast<size_t>(k_offsets[s] + j) * kv_token], kv_token,
                      std::numeric_limits<float>::quiet_NaN());
        }
      }
    }
    args.q = q.data();
    args.q_token = static_cast<ptrdiff_t>(q_token);
    args.q_head = static_cast<ptrdiff_t>(c.head_dim);
    args.k = kv.data();
    args.k_token = static_cast<ptrdiff_t>(kv_token);
    args.k_head = static_cast<ptrdiff_t>(c.head_dim);
    args.v = kv.data() + c.kv_heads * c.head_dim;
    args.v_token = static_cast<ptrdiff_t>(kv_token);
    args.v_head = static_cast<ptrdiff_t>(c.value_dim);
    out.assign(static_cast<size_t>(q_offsets.back()) * (c.heads * c.value_dim + 1) + 1, -7.0F);
    args.out = out.data();
    args.out_token = static_cast<ptrdiff_t>(c.heads * c.value_dim + 1);
    args.out_head = static_cast<ptrdiff_t>(c.value_dim);
    args.sequences = c.q_lengths.size();
    args.q_offsets = q_offsets.data();
    args.k_offsets = k_offsets.data();
    args.key_lengths = c.key_lengths.empty() ? nullptr : c.key_lengths.data();
    args.causal = c.causal;
    const auto side = static_cast<size_t>(std::max<int64_t>(longest, 1));
    if (c.mask == 1) {
      mask = seeded.units(600 * side);
      args.mask_query = static_cast<ptrdiff_t>(side);
    } else if (c.mask == 2) {
      mask = seeded.units(c.heads * 600 * side);
      for (float& x : mask) {
        if (x > 0.3F) x = -std::numeric_limits<float>::infinity();
      }
      std::fill_n(mask.begin(), side, -std::numeric_limits<float>::infinity());
      args.mask_head = static_cast<ptrdiff_t>(600 * side);
      args.mask_query = static_cast<ptrdiff_t>(side);
    } else if (c.mask == 3) {
      mask = seeded.units(3 * side);
      args.mask_key = 3;
    }
    args.mask = c.mask == 0 ? nullptr : mask.data();
  }
};

void check(const AttentionKernels& table, const Case& c, uint64_t seed) {
  Seeded seeded(seed);
  Built b(c, seeded);
  std::vector<float> want = b.out;
  for (size_t s = 0; s < b.args.sequences; ++s) {
    for (size_t h = 0; h < c.heads; ++h) {
      const auto queries = static_cast<size_t>(c.q_lengths[s]);
      for (size_t i = 0; i < queries; ++i) {
        reference_attention(b.args, s, h, i, contract_exp,
                            &want[(static_cast<size_t>(b.q_offsets[s]) + i) *
                                      static_cast<size_t>(b.args.out_token) +
                                  h * c.value_dim]);
      }
      const auto keys = static_cast<size_t>(b.k_offsets[s + 1] - b.k_offsets[s]);
      Aligned<char> scratch(table.scratch_bytes(keys, c.head_dim, c.value_dim));
      // In two parts when it has room: the cut may not matter.
      const size_t middle = queries > 20 ? 17 : queries;
      table.f32(b.args, s, h, 0, middle, scratch.get());
      table.f32(b.args, s, h, middle, queries, scratch.get());
    }
  }
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_TRUE(same_bits(b.out[i], want[i]))
        << "at " << i << ": " << b.out[i] << " for " << want[i];
  }
}

TEST_P(Attention, EveryLengthIsTheContractsOrder) {
  const bool portable = GetParam()->isa == Isa::Portable;
  for (int64_t length = 1; length <= (portable ? 66 : 140); length += length < 20 ? 1 : 9) {
    check(table(), {.q_lengths = {length}}, static_cast<uint64_t>(length));
    check(table(), {.q_lengths = {length}, .causal = true}, static_cast<uint64_t>(length));
  }
}

TEST_P(Attention, PackedSequencesOfAllSizes) {
  check(table(), {.q_lengths = {3, 0, 17, 1, 65, 30}}, 1);
  check(table(), {.q_lengths = {3, 0, 17, 1, 65, 30}, .causal = true}, 2);
}

TEST_P(Attention, HeadSizes) {
  for (const size_t d : {1, 8, 16, 24, 33, 64, 80, 128, 256}) {
    check(table(), {.q_lengths = {23}, .heads = 1, .kv_heads = 1, .head_dim = d, .value_dim = d},
          d);
  }
  check(table(), {.q_lengths = {19}, .head_dim = 40, .value_dim = 72}, 3);
}

TEST_P(Attention, FewerKeyHeads) {
  check(table(), {.q_lengths = {21, 9}, .heads = 6, .kv_heads = 2}, 4);
  check(table(), {.q_lengths = {21, 9}, .heads = 6, .kv_heads = 1, .causal = true}, 5);
}

TEST_P(Attention, QueriesAndKeysOfDifferentNumbers) {
  check(table(), {.q_lengths = {1, 5, 30}, .k_lengths = {70, 130, 30}, .causal = true}, 6);
  check(table(), {.q_lengths = {33, 70}, .k_lengths = {7, 65}, .causal = true}, 7);
  check(table(), {.q_lengths = {4, 3}, .k_lengths = {0, 64}}, 8);
}

TEST_P(Attention, KeyLengths) {
  check(table(), {.q_lengths = {20, 20, 20, 70}, .key_lengths = {20, 7, 0, 65}}, 9);
  check(table(), {.q_lengths = {20, 20, 20, 80}, .causal = true, .key_lengths = {100, 7, 0, 70}},
        10);
}

// What is excluded may hold anything.
TEST_P(Attention, NothingLeaksFromExcludedKeys) {
  const Case c{.q_lengths = {20, 70}, .key_lengths = {13, 66}, .hostile = true};
  check(table(), c, 11);
  Seeded seeded(11);
  Built b(c, seeded);
  Aligned<char> scratch(table().scratch_bytes(70, 32, 32));
  for (size_t s = 0; s < 2; ++s) {
    table().f32(b.args, s, 0, 0, static_cast<size_t>(c.q_lengths[s]), scratch.get());
  }
  for (int64_t t = 0; t < 90; ++t) {
    for (int d = 0; d < 32; ++d) EXPECT_TRUE(std::isfinite(b.args.out[t * b.args.out_token + d]));
  }
}

TEST_P(Attention, Masks) {
  for (const int mask : {1, 2, 3}) {
    check(table(), {.q_lengths = {37, 3}, .mask = mask}, 12);
    check(table(), {.q_lengths = {37, 70}, .causal = true, .mask = mask}, 13);
  }
}

TEST_P(Attention, NotANumberAndInfinity) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const int where : {0, 1, 2}) {
      Seeded seeded(14);
      const Case c{.q_lengths = {35}};
      Built b(c, seeded);
      if (where == 0) b.q[5] = bad;
      if (where == 1) b.kv[7 * b.args.k_token + 3] = bad;
      if (where == 2) b.kv[7 * b.args.k_token + 64 + 3] = bad;
      Aligned<char> scratch(table().scratch_bytes(35, 32, 32));
      for (size_t h = 0; h < 2; ++h) table().f32(b.args, 0, h, 0, 35, scratch.get());
      for (size_t h = 0; h < 2; ++h) {
        for (size_t i = 0; i < 35; ++i) {
          float want[32];
          reference_attention(b.args, 0, h, i, contract_exp, want);
          for (size_t d = 0; d < 32; ++d) {
            const float got = b.out[i * 65 + h * 32 + d];
            ASSERT_TRUE(same_bits(got, want[d])) << where << " " << i << " " << d;
          }
        }
      }
    }
  }
}

// Values of the same sign, so that the relative error means something; the judge is double.
TEST_P(Attention, IsCloseToDouble) {
  Seeded seeded(15);
  const Case c{.q_lengths = {100}};
  Built b(c, seeded);
  for (float& x : b.kv) x = std::fabs(x);
  Aligned<char> scratch(table().scratch_bytes(100, 32, 32));
  table().f32(b.args, 0, 1, 0, 100, scratch.get());
  for (ptrdiff_t i = 0; i < 100; ++i) {
    std::vector<double> score(100);
    double most = -1e300;
    for (ptrdiff_t j = 0; j < 100; ++j) {
      double dot = 0.0;
      for (ptrdiff_t d = 0; d < 32; ++d) {
        dot += static_cast<double>(b.args.q[i * b.args.q_token + 32 + d]) *
               b.args.k[j * b.args.k_token + 32 + d];
      }
      score[static_cast<size_t>(j)] = dot * b.args.scale;
      most = std::max(most, score[static_cast<size_t>(j)]);
    }
    double sum = 0.0;
    for (double& x : score) sum += x = std::exp(x - most);
    for (ptrdiff_t d = 0; d < 32; ++d) {
      double value = 0.0;
      for (ptrdiff_t j = 0; j < 100; ++j) {
        value += score[static_cast<size_t>(j)] * b.args.v[j * b.args.v_token + 32 + d];
      }
      EXPECT_NEAR(b.args.out[i * b.args.out_token + 32 + d], value / sum, 3e-6 * value / sum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, Attention,
                         testing::ValuesIn(available_kernel_tables().begin(),
                                           available_kernel_tables().end()),
                         table_name);

}  // namespace
}  // namespace capra::kernels
