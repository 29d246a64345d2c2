// Rows to vectors while more rows are read: reading, computing and writing overlap.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capra/base/result.h"
#include "models/embedding_model.h"
#include "tools/capra/command.h"
#include "tools/capra/progress.h"
#include "tools/capra/text_input.h"
#include "tools/capra/vector_rows.h"

namespace capra::driver {

/// What was embedded.
struct EmbedTotals {
  int64_t rows = 0;
  int64_t truncated = 0;
  int64_t dropped = 0;   ///< tokens
  int64_t replaced = 0;  ///< invalid UTF-8 sequences
};

/// A thread reads and tokenizes, the caller of `run` computes, a thread writes. The caller takes
/// what is there, at most the model's token budget: a lone row is computed at once, and under load
/// batches are full. How rows fall into batches changes no vector. Memory does not grow with the
/// input.
class EmbedStream {
 public:
  EmbedStream(const EmbeddingModel& model, const EmbedOptions& options, TextInput& input,
              VectorWriter& writer)
      : model_(model),
        options_(options),
        input_(input),
        writer_(writer),
        progress_("texts", options.quiet) {}

  /// All rows, in their order. Rows before one that cannot be read or tokenized are written; of a
  /// batch that cannot be computed, none is. Fails as reading, tokenizing,
  /// EmbeddingModel::embed_ids and writing do, at the row, and with `threads-unavailable`.
  Result<EmbedTotals> run();

 private:
  struct Row {
    InputRow input;
    int64_t index = 0;
    std::vector<int32_t> ids;
    TextReport report;
  };
  struct Batch {
    std::vector<Row> rows;
    std::vector<float> vectors;
    double progress = -1;
  };
  // What failed is reported in this order: writing came before computing, and that before reading.
  enum Stage : uint8_t { kWriting, kComputing, kReading, kStages };

  void run_stage(Stage stage, Status (EmbedStream::*body)());
  Status read();
  Status compute();
  Status write();

  Result<Row> tokenize(InputRow input, int64_t index) const;
  std::vector<Row> take();
  Status embed(Batch& batch) const;
  Status write_batch(const Batch& batch);
  std::string place(const Row& row) const { return input_.place(row.input, row.index); }

  const EmbeddingModel& model_;
  const EmbedOptions& options_;
  TextInput& input_;
  VectorWriter& writer_;
  Progress progress_;
  EmbedTotals totals_;

  std::mutex mutex_;
  std::condition_variable changed_;  // anything below
  std::deque<Row> ready_;            // tokenized, not computed
  int64_t ready_tokens_ = 0;
  size_t ready_bytes_ = 0;
  std::deque<Batch> done_;  // computed, not written
  std::array<bool, kStages> ended_ = {};
  std::array<std::optional<Diagnostic>, kStages> failures_;
};

}  // namespace capra::driver
