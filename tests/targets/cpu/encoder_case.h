// A small seeded encoder and packed batches of token ids, for tests of whole graphs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "capra/interp/interp.h"
#include "capra/targets/cpu/isa/isa.h"
#include "capra/targets/cpu/target.h"
#include "tests/models/small_encoder.h"

namespace capra::testing {

/// Token ids of sequences of given lengths, packed.
struct Batch {
  std::vector<Array> inputs;  // ids, positions, offsets
  std::vector<int64_t> lengths;

  static std::vector<int32_t> text(int64_t length, uint64_t seed) {
    Random numbers(seed);
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < length; ++i) ids.push_back(static_cast<int32_t>(numbers.next() % 1000));
    return ids;
  }

  /// Sequence i has the ids of text(lengths[i], seeds[i]).
  static Batch of(const std::vector<int64_t>& lengths, const std::vector<uint64_t>& seeds) {
    std::vector<int32_t> ids;
    std::vector<int32_t> positions;
    std::vector<int32_t> offsets{0};
    for (size_t i = 0; i < lengths.size(); ++i) {
      const std::vector<int32_t> one = text(lengths[i], seeds[i]);
      ids.insert(ids.end(), one.begin(), one.end());
      for (int32_t p = 0; p < lengths[i]; ++p) positions.push_back(p);
      offsets.push_back(static_cast<int32_t>(ids.size()));
    }
    const auto tokens = static_cast<int64_t>(ids.size());
    Batch batch;
    batch.lengths = lengths;
    batch.inputs = {
        Array::of<int32_t>(DType::I32, {tokens}, ids),
        Array::of<int32_t>(DType::I32, {tokens}, positions),
        Array::of<int32_t>(DType::I32, {static_cast<int64_t>(offsets.size())}, offsets)};
    return batch;
  }
};

struct EncoderCase {
  Graph graph;
  Parameters parameters;

  /// In f64 the weights are those of f32, widened.
  explicit EncoderCase(TraceOptions options = {})
      : graph(make_bert(small_bert_config())->trace(options)) {
    const DType dtype = std::exchange(options.dtype, DType::F32);
    parameters = seeded_parameters(make_bert(small_bert_config())->trace(options), 7);
    if (dtype != DType::F64) return;
    for (auto& [path, array] : parameters) array = interp_array(array);
  }
};

inline std::vector<InputRef> refs(const std::vector<Array>& arrays) {
  return {arrays.begin(), arrays.end()};
}

/// The values of a result, or a failed expectation.
template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << to_text(result.error());
    return T();
  }
  return *std::move(result);
}

/// All outputs of a graph on a target, compiled and run once.
inline std::vector<Array> run_compiled(const Target& target, const Graph& graph,
                                       const Parameters& parameters,
                                       const std::vector<Array>& inputs, int threads = 1,
                                       bool optimize = true) {
  const auto pool = std::make_shared<ThreadPool>(threads);
  const auto executable =
      value_of(compile(target, graph, parameters, {.optimize = optimize, .pool = pool}));
  if (executable == nullptr) return {};
  Workspace workspace = executable->make_workspace(pool);
  return value_of(executable->run(workspace, refs(inputs)));
}

/// All outputs of a graph, computed call by call.
inline std::vector<Array> run_eager(const Target& target, const Graph& graph,
                                    const Parameters& parameters, const std::vector<Array>& inputs,
                                    int threads = 1) {
  const Context context = target.eager(&parameters, std::make_shared<ThreadPool>(threads));
  std::vector<Tensor> tensors;
  for (const Array& input : inputs) tensors.push_back(Tensor::of_data(context, input));
  std::vector<Array> results;
  for (const Tensor& result : replay(graph, context, tensors)) results.push_back(result.array());
  return results;
}

/// The targets this machine runs, one an instruction set.
inline std::vector<const Target*> cpu_targets() {
  std::vector<const Target*> targets;
  for (const kernels::Isa isa :
       {kernels::Isa::Portable, kernels::Isa::Avx2, kernels::Isa::Avx512, kernels::Isa::Neon}) {
    if (const Target* target = cpu::target_for(isa); target != nullptr) targets.push_back(target);
  }
  return targets;
}

}  // namespace capra::testing
