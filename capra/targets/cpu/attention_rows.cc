// The row of attention: sequences, heads and blocks of queries shared out over threads.
#include "capra/targets/cpu/attention.h"

#include <limits>

#include "capra/ops/attention.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "capra/targets/cpu/product.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

// The sequences of a job, in scratch.
struct Sequences {
  int64_t count = 0;
  int64_t* q_offsets = nullptr;
  int64_t* k_offsets = nullptr;
  int64_t* key_lengths = nullptr;  // or null
  int64_t* first_task = nullptr;   // [count + 1]: tasks of earlier sequences
  int64_t longest = 0;             // keys
};

std::span<const int32_t> numbers(const View& view) {
  return {view.as<int32_t>(), static_cast<size_t>(view.elements())};
}

size_t sequence_bytes(int64_t count) {
  return aligned(4 * (static_cast<size_t>(count) + 1) * sizeof(int64_t));
}

// Reads offsets and lengths; `memory` holds sequence_bytes(count).
Sequences read_sequences(const AttentionJob& job, int64_t count, std::byte* memory) {
  Sequences s;
  s.count = count;
  s.q_offsets = reinterpret_cast<int64_t*>(memory);
  s.k_offsets = s.q_offsets + count + 1;
  s.first_task = s.k_offsets + count + 1;
  if (job.offsets != nullptr) {
    for (int64_t i = 0; i <= count; ++i) {
      s.q_offsets[i] = job.offsets->as<int32_t>()[i];
      s.k_offsets[i] = s.q_offsets[i];
    }
  } else {
    s.q_offsets[0] = 0;
    s.q_offsets[1] = job.q.dim(0);
    s.k_offsets[0] = 0;
    s.k_offsets[1] = job.k.dim(0);
  }
  if (job.key_lengths != nullptr) {
    s.key_lengths = s.first_task + count + 1;
    for (int64_t i = 0; i < count; ++i) s.key_lengths[i] = job.key_lengths->as<int32_t>()[i];
  }
  for (int64_t i = 0; i < count; ++i) {
    s.longest = std::max(s.longest, s.k_offsets[i + 1] - s.k_offsets[i]);
  }
  return s;
}

// Blocks of queries: whole sequences where there are enough of them, so that the keys of a head are
// prepared once.
int64_t query_block(const Sequences& s, int64_t heads, int64_t tile, int threads) {
  if (threads == 1 || s.count * heads >= 8 * threads) return std::numeric_limits<int64_t>::max();
  const int64_t queries = s.q_offsets[s.count] * heads;
  const int64_t each = queries / (4 * threads);
  return std::max<int64_t>(4, each / tile) * tile;
}

struct MaskStrides {
  ptrdiff_t head = 0;
  ptrdiff_t query = 0;
  ptrdiff_t key = 0;
};
MaskStrides mask_strides(const View* mask) {
  MaskStrides strides;
  if (mask == nullptr) return strides;
  const auto of = [&](int from_end) -> ptrdiff_t {
    const int axis = mask->rank - from_end;
    return axis < 0 || mask->dim(axis) == 1 ? 0 : mask->stride(axis);
  };
  return {of(3), of(2), of(1)};
}

template <class Run>
void run_tasks(const Sequences& s, int64_t heads, int64_t block, ThreadPool& pool, const Run& run) {
  s.first_task[0] = 0;
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t queries = s.q_offsets[i + 1] - s.q_offsets[i];
    const int64_t blocks = queries == 0 ? 0 : (queries - 1) / block + 1;
    s.first_task[i + 1] = s.first_task[i] + blocks * heads;
  }
  pool.run(s.first_task[s.count], [&](int64_t task, int worker) {
    const int64_t sequence =
        std::upper_bound(s.first_task, s.first_task + s.count + 1, task) - s.first_task - 1;
    const int64_t within = task - s.first_task[sequence];
    const int64_t blocks = (s.first_task[sequence + 1] - s.first_task[sequence]) / heads;
    const int64_t queries = s.q_offsets[sequence + 1] - s.q_offsets[sequence];
    const int64_t begin = (within % blocks) * queries / blocks;
    const int64_t end = (within % blocks + 1) * queries / blocks;
    run(sequence, within / blocks, begin, end, worker);
  });
}

void run_f32(const KernelTable& table, const AttentionJob& job, const Sequences& s,
             ThreadPool& pool, std::byte* memory, size_t each) {
  kernels::AttentionF32 args;
  args.q = job.q.as<float>();
  args.q_token = job.q.stride(0);
  args.q_head = job.q.stride(1);
  args.k = job.k.as<float>();
  args.k_token = job.k.stride(0);
  args.k_head = job.k.stride(1);
  args.v = job.v.as<float>();
  args.v_token = job.v.stride(0);
  args.v_head = job.v.stride(1);
  args.out = job.out.as<float>();
  args.out_token = job.out.stride(0);
  args.out_head = job.out.stride(1);
  args.heads = static_cast<size_t>(job.q.dim(1));
  args.kv_heads = static_cast<size_t>(job.k.dim(1));
  args.head_dim = static_cast<size_t>(job.q.dim(2));
  args.value_dim = static_cast<size_t>(job.v.dim(2));
  args.scale = static_cast<float>(job.scale);
  args.sequences = static_cast<size_t>(s.count);
  args.q_offsets = s.q_offsets;
  args.k_offsets = s.k_offsets;
  args.key_lengths = s.key_lengths;
  args.causal = job.causal;
  const MaskStrides mask = mask_strides(job.mask);
  args.mask_head = mask.head;
  args.mask_query = mask.query;
  args.mask_key = mask.key;
  const int64_t block = query_block(
      s, job.q.dim(1), static_cast<int64_t>(table.attention.query_tile), pool.threads());
  run_tasks(s, job.q.dim(1), block, pool,
            [&](int64_t sequence, int64_t head, int64_t begin, int64_t end, int worker) {
              kernels::AttentionF32 of_sequence = args;
              if (job.mask != nullptr) {
                of_sequence.mask = job.mask->as<float>() + s.q_offsets[sequence] * mask.query +
                                   s.k_offsets[sequence] * mask.key;
              }
              table.attention.f32(of_sequence, static_cast<size_t>(sequence),
                                  static_cast<size_t>(head), static_cast<size_t>(begin),
                                  static_cast<size_t>(end),
                                  memory + static_cast<size_t>(worker) * each);
            });
}

void run_f64(const KernelTable& table, const AttentionJob& job, const Sequences& s,
             ThreadPool& pool, std::byte* memory, size_t each) {
  const MaskStrides mask = mask_strides(job.mask);
  const int64_t group = job.q.dim(1) / job.k.dim(1);
  run_tasks(
      s, job.q.dim(1), 16, pool,
      [&](int64_t sequence, int64_t head, int64_t begin, int64_t end, int worker) {
        const int64_t q_first = s.q_offsets[sequence];
        const int64_t k_first = s.k_offsets[sequence];
        const int64_t queries = s.q_offsets[sequence + 1] - q_first;
        const int64_t keys = s.k_offsets[sequence + 1] - k_first;
        AttentionF64 args;
        args.q = job.q.as<double>() + q_first * job.q.stride(0) + head * job.q.stride(1);
        args.q_token = job.q.stride(0);
        args.k = job.k.as<double>() + k_first * job.k.stride(0) + head / group * job.k.stride(1);
        args.k_token = job.k.stride(0);
        args.v = job.v.as<double>() + k_first * job.v.stride(0) + head / group * job.v.stride(1);
        args.v_token = job.v.stride(0);
        args.out = job.out.as<double>() + q_first * job.out.stride(0) + head * job.out.stride(1);
        args.out_token = job.out.stride(0);
        args.head_dim = job.q.dim(2);
        args.value_dim = job.v.dim(2);
        args.scale = job.scale;
        if (job.mask != nullptr) {
          args.mask =
              job.mask->as<double>() + head * mask.head + q_first * mask.query + k_first * mask.key;
        }
        args.mask_query = mask.query;
        args.mask_key = mask.key;
        const int64_t counted =
            s.key_lengths == nullptr ? keys : std::min(keys, s.key_lengths[sequence]);
        auto* weights = reinterpret_cast<double*>(memory + static_cast<size_t>(worker) * each);
        for (int64_t query = begin; query < end; ++query) {
          const int64_t past = std::max<int64_t>(0, query + keys - queries + 1);
          attend_f64(table, args, query, job.causal ? std::min(counted, past) : counted, weights);
        }
      });
}

class AttentionStep : public Step {
 public:
  AttentionStep(const KernelTable& table, AttentionAttrs attrs) : table_(table), attrs_(attrs) {}

  bool takes_strided(size_t index) const override { return index < 3; }
  Status run(const StepCall& call) const override {
    return run_attention(table_, job_of(call), call.pool, call.scratch);
  }
  StepWork work(const StepCall& call) const override {
    StepWork work = Step::work(call);
    work.flops = attention_flops(job_of(call));
    return work;
  }

 private:
  AttentionJob job_of(const StepCall& call) const {
    const auto optional = [&](size_t index) {
      return index < call.operands.size() ? call.operands[index] : nullptr;
    };
    return {.q = *call.operands[0],
            .k = *call.operands[1],
            .v = *call.operands[2],
            .out = call.result,
            .offsets = optional(3),
            .key_lengths = optional(4),
            .mask = optional(5),
            .scale = attention_scale(attrs_, call.operands[0]->dim(2)),
            .causal = attrs_.causal};
  }

  const KernelTable& table_;
  AttentionAttrs attrs_;
};

Result<std::unique_ptr<Step>> make_attention(const StepRequest& request, const KernelTable& table) {
  if (is_half(request.node.type.dtype)) return make_widened(request, table, make_attention);
  return std::unique_ptr<Step>(
      std::make_unique<AttentionStep>(table, request.node.attrs_as<AttentionAttrs>()));
}

bool takes_attention(TypeRefs operands, const Attrs&, const TensorType&) {
  constexpr auto kMost = static_cast<int64_t>(kernels::AttentionF32::kMaxHeadDim);
  const Dim& head_dim = operands[0]->shape[2];
  const Dim& value_dim = operands[2]->shape[2];
  return operands[0]->dtype == DType::F64 || (head_dim.is_static() && head_dim.size() <= kMost &&
                                              value_dim.is_static() && value_dim.size() <= kMost);
}

}  // namespace

constinit const CpuRow kAttentionRows[] = {{{&kAttention, takes_attention}, make_attention}};

Status run_attention(const KernelTable& table, const AttentionJob& job, ThreadPool& pool,
                     Scratch& scratch) {
  if (job.offsets != nullptr) {
    CAPRA_TRY(check_attention_offsets(numbers(*job.offsets), job.q.dim(0)));
  }
  const int64_t count = job.offsets == nullptr ? 1 : job.offsets->elements() - 1;
  if (job.key_lengths != nullptr) {
    CAPRA_TRY(check_attention_key_lengths(numbers(*job.key_lengths), count));
  }
  const bool f64 = job.q.dtype == DType::F64;
  const size_t head = sequence_bytes(count);
  // The longest sequence is known once they are read; reading them again is cheaper than a bound.
  const Sequences known = read_sequences(job, count, scratch.get(head));
  const size_t each =
      aligned(f64 ? static_cast<size_t>(known.longest) * sizeof(double)
                  : table.attention.scratch_bytes(static_cast<size_t>(known.longest),
                                                  static_cast<size_t>(job.q.dim(2)),
                                                  static_cast<size_t>(job.v.dim(2))));
  std::byte* memory = scratch.get(head + each * static_cast<size_t>(pool.threads()));
  const Sequences sequences = read_sequences(job, count, memory);
  if (f64) {
    run_f64(table, job, sequences, pool, memory + head, each);
  } else {
    run_f32(table, job, sequences, pool, memory + head, each);
  }
  return {};
}

double attention_flops(const AttentionJob& job) {
  const double per_pair =
      2.0 * static_cast<double>(job.q.dim(1)) * static_cast<double>(job.q.dim(2) + job.v.dim(2));
  if (job.offsets == nullptr) {
    return per_pair * static_cast<double>(job.q.dim(0)) * static_cast<double>(job.k.dim(0));
  }
  double pairs = 0;
  for (int64_t i = 0; i + 1 < job.offsets->elements(); ++i) {
    const double length = job.offsets->as<int32_t>()[i + 1] - job.offsets->as<int32_t>()[i];
    pairs += length * length;
  }
  return per_pair * pairs;
}

}  // namespace capra::cpu
