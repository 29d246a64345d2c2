// Running a loaded model: batches of packed tokens through the encoder, then the head.
#include <algorithm>
#include <cmath>

#include "capra/base/number_text.h"
#include "models/embedding_parts.h"

namespace capra {
Status check_packed(const Encoder& encoder, std::span<const int32_t> ids,
                    std::span<const int64_t> offsets) {
  const auto count = static_cast<int64_t>(ids.size());
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != count) {
    return fail("offsets-invalid",
                "offsets must start at 0 and end at the number of ids, " + number_text(count));
  }
  const int64_t longest = encoder.longest_sequence();
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::string at = "sequence " + number_text(i);
    if (offsets[i + 1] < offsets[i] || offsets[i + 1] > count) {
      return fail("offsets-invalid",
                  "offset " + number_text(offsets[i + 1]) + " follows " + number_text(offsets[i]),
                  at);
    }
    const int64_t tokens = offsets[i + 1] - offsets[i];
    if (tokens == 0) {
      return fail("sequence-empty", "a sequence without tokens has no vector", at,
                  "give at least the special tokens");
    }
    if (tokens > longest) {
      return fail(
          "too-many-tokens",
          number_text(tokens) + " tokens, the model has positions for " + number_text(longest), at);
    }
  }
  const int64_t vocabulary = encoder.vocabulary();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocabulary) {
      return fail("token-id-out-of-range",
                  "token id " + number_text(ids[i]) + ", the vocabulary has 0 to " +
                      number_text(vocabulary - 1),
                  "token " + number_text(i));
    }
  }
  return {};
}

// The end of the batch that starts at `first`: as many whole sequences as the budget holds, at
// least one.
int64_t batch_end(std::span<const int64_t> offsets, int64_t first, int64_t budget) {
  const auto at = [&](int64_t i) { return offsets[static_cast<size_t>(i)]; };
  const auto count = static_cast<int64_t>(offsets.size()) - 1;
  int64_t last = first + 1;
  while (last < count && at(last + 1) - at(first) <= budget) ++last;
  return last;
}

void fill_batch(const Encoder& encoder, std::span<const int32_t> ids,
                std::span<const int64_t> offsets, int64_t first, int64_t last,
                BatchWorkspace& batch) {
  const int64_t begin = offsets[static_cast<size_t>(first)];
  const int64_t end = offsets[static_cast<size_t>(last)];
  const auto tokens = ids.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  batch.ids.assign(tokens.begin(), tokens.end());
  batch.positions.resize(tokens.size());
  batch.offsets.resize(static_cast<size_t>(last - first) + 1);
  batch.offsets[0] = 0;
  for (int64_t i = first; i < last; ++i) {
    const int64_t from = offsets[static_cast<size_t>(i)] - begin;
    const int64_t to = offsets[static_cast<size_t>(i) + 1] - begin;
    for (int64_t t = from; t < to; ++t) {
      batch.positions[static_cast<size_t>(t)] =
          static_cast<int32_t>(encoder.first_position() + t - from);
    }
    batch.offsets[static_cast<size_t>(i - first) + 1] = static_cast<int32_t>(to);
  }
}

std::array<InputRef, 3> batch_inputs(const BatchWorkspace& batch, std::array<int64_t, 2>& extents) {
  extents = {static_cast<int64_t>(batch.ids.size()), static_cast<int64_t>(batch.offsets.size())};
  const std::span<const int64_t> tokens(extents.data(), 1);
  const std::span<const int64_t> boundaries(extents.data() + 1, 1);
  return {InputRef(DType::I32, tokens, batch.ids.data()),
          InputRef(DType::I32, tokens, batch.positions.data()),
          InputRef(DType::I32, boundaries, batch.offsets.data())};
}

std::unique_ptr<BatchWorkspace> EmbeddingModel::Parts::take_workspace() const {
  {
    const std::lock_guard lock(idle_mutex);
    if (!idle.empty()) {
      std::unique_ptr<BatchWorkspace> workspace = std::move(idle.back());
      idle.pop_back();
      return workspace;
    }
  }
  auto workspace = std::make_unique<BatchWorkspace>();
  workspace->workspace = executable->make_workspace(pool);
  return workspace;
}

void EmbeddingModel::Parts::give_back(std::unique_ptr<BatchWorkspace> workspace) const {
  const std::lock_guard lock(idle_mutex);
  idle.push_back(std::move(workspace));
}

Status EmbeddingModel::Parts::run_batch(BatchWorkspace& batch, int64_t first,
                                        std::span<float> vectors,
                                        std::span<const int64_t> prompt_tokens) const {
  std::array<int64_t, 2> extents;
  const std::array<InputRef, 3> inputs = batch_inputs(batch, extents);
  const DType dtype = executable->computed_dtype(0);
  const int64_t hidden_size = encoder->hidden_size();
  const size_t values = batch.ids.size() * static_cast<size_t>(hidden_size);
  const size_t bytes = values * dtype_bytes(dtype);
  if (batch.hidden.size() < bytes) batch.hidden.resize(bytes);
  const OutputRef outputs[] = {OutputRef(dtype, batch.hidden.data(), bytes)};
  CAPRA_TRY(executable->run(batch.workspace, inputs, outputs));

  const auto count = static_cast<int64_t>(batch.offsets.size()) - 1;
  pool->run(count, [&](int64_t i, int) {
    const auto index = static_cast<size_t>(i);
    const int64_t from = batch.offsets[index];
    const int64_t tokens = batch.offsets[index + 1] - from;
    const auto start = static_cast<size_t>(from * hidden_size);
    const auto size = static_cast<size_t>(tokens * hidden_size);
    const auto dimension = static_cast<size_t>(head.dimension());
    const std::span<float> vector = vectors.subspan(index * dimension, dimension);
    const int64_t skipped = prompt_tokens.empty() ? 0 : std::min(prompt_tokens[index], tokens - 1);
    if (dtype == DType::F64) {
      const auto* states = reinterpret_cast<const double*>(batch.hidden.data());
      const std::vector<double> exact =
          head.apply_exact({states + start, size}, tokens, nullptr, skipped);
      for (size_t d = 0; d < dimension; ++d) vector[d] = static_cast<float>(exact[d]);
    } else {
      const auto* states = reinterpret_cast<const float*>(batch.hidden.data());
      head.apply({states + start, size}, tokens, vector, skipped);
    }
  });
  for (size_t i = 0; i < static_cast<size_t>(count * head.dimension()); ++i) {
    if (!std::isfinite(vectors[i])) {
      return fail("vector-not-finite", "a vector has a value that is not a finite number",
                  "sequence " + number_text(first + static_cast<int64_t>(i) / head.dimension()),
                  "check the weights with 'capra verify'");
    }
  }
  return {};
}

Status EmbeddingModel::Parts::embed_packed(std::span<const int32_t> ids,
                                           std::span<const int64_t> offsets,
                                           std::span<float> vectors,
                                           std::span<const int64_t> prompt_tokens) const {
  CAPRA_CHECK(executable != nullptr);
  CAPRA_TRY(check_packed(*encoder, ids, offsets));
  const auto count = static_cast<int64_t>(offsets.size()) - 1;
  if (vectors.size() != static_cast<size_t>(count * head.dimension())) {
    return fail("output-size", "room for " + number_text(vectors.size()) + " numbers, needed " +
                                   number_text(count * head.dimension()));
  }
  std::unique_ptr<BatchWorkspace> batch = take_workspace();
  Status status;
  for (int64_t first = 0; first < count && status.ok();) {
    const int64_t last = batch_end(offsets, first, token_budget);
    fill_batch(*encoder, ids, offsets, first, last, *batch);
    const auto dimension = static_cast<size_t>(head.dimension());
    const auto begin = static_cast<size_t>(first);
    const auto sequences = static_cast<size_t>(last - first);
    status =
        run_batch(*batch, first, vectors.subspan(begin * dimension, sequences * dimension),
                  prompt_tokens.empty() ? prompt_tokens : prompt_tokens.subspan(begin, sequences));
    first = last;
  }
  give_back(std::move(batch));
  return status;
}

}  // namespace capra
