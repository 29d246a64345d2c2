// Two bounded queues between three stages, under one lock: it is taken a few times a batch.
#include "tools/capra/embed_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "capra/base/number_text.h"
#include "models/embedding_parts.h"

namespace capra::driver {
namespace {

// The reader stays this many full batches ahead, and no more than this many bytes of input.
constexpr int64_t kBatchesAhead = 2;
constexpr size_t kBytesAhead = size_t{1} << 20;
constexpr size_t kBatchesToWrite = 2;

// Ids are used as they are, cut to the limit on the side that the tokenizer's config says; the
// opening and the closing id stay.
Result<TextReport> cut_ids(const EmbeddingModel& model, Overflow on_overflow, const std::string& at,
                           std::vector<int32_t>& ids) {
  if (ids.empty()) {
    return fail("sequence-empty", "a row without token ids has no vector", at,
                "give at least the special tokens");
  }
  const int64_t vocabulary = model.parts().encoder->vocabulary();
  const auto outside = std::ranges::find_if(ids, [&](int32_t id) { return id >= vocabulary; });
  if (outside != ids.end()) {
    return fail("token-id-out-of-range",
                fmt::format("token id {}, the vocabulary has 0 to {}", *outside, vocabulary - 1),
                at, "give ids of this model's tokenizer");
  }
  TextReport report;
  const auto limit = static_cast<size_t>(model.max_length());
  if (ids.size() > limit) {
    if (on_overflow == Overflow::Fail) {
      return fail("too-many-tokens", fmt::format("{} tokens, the limit is {}", ids.size(), limit),
                  at, "raise --max-length, or cut with --on-overflow truncate");
    }
    const size_t dropped = ids.size() - limit;
    report.dropped_tokens = static_cast<int64_t>(dropped);
    const int32_t first = ids.front();
    const int32_t last = ids.back();
    const auto cut = model.parts().config.truncate_left ? ids.begin()
                                                        : ids.end() - static_cast<int64_t>(dropped);
    ids.erase(cut, cut + static_cast<int64_t>(dropped));
    ids.front() = first;
    ids.back() = last;
  }
  report.tokens = static_cast<int64_t>(ids.size());
  return report;
}

// A failure of the model says `text 0, byte 5`; people count lines.
Failure at_text(Diagnostic diagnostic, const std::string& place) {
  const size_t end = std::min(diagnostic.at.find(','), diagnostic.at.size());
  diagnostic.at = place + diagnostic.at.substr(end);
  return fail(std::move(diagnostic));
}

}  // namespace

Result<EmbedStream::Row> EmbedStream::tokenize(InputRow input, int64_t index) const {
  Row row{.input = std::move(input), .index = index, .ids = {}, .report = {}};
  if (options_.source.token_ids) {
    row.ids = std::move(row.input.ids);
    CAPRA_ASSIGN(row.report, cut_ids(model_, options_.embedding.on_overflow, place(row), row.ids));
    return row;
  }
  const std::string_view text = row.input.text;
  Result<PackedTokens> packed = model_.tokenize({&text, 1});
  if (!packed.ok()) return at_text(packed.error(), place(row));
  row.ids = std::move(packed->ids);
  row.report = packed->reports.front();
  row.input.text = {};
  return row;
}

Status EmbedStream::read() {
  for (int64_t index = 0;; ++index) {
    InputRow input;
    CAPRA_ASSIGN(const bool more, input_.next(input));
    if (!more) return {};
    CAPRA_ASSIGN(Row row, tokenize(std::move(input), index));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return (ready_tokens_ < kBatchesAhead * model_.token_budget() &&
              ready_bytes_ < kBytesAhead) ||
             ended_[kComputing];
    });
    if (ended_[kComputing]) return {};
    ready_tokens_ += row.report.tokens;
    ready_bytes_ += row.input.bytes;
    ready_.push_back(std::move(row));
    changed_.notify_all();
  }
}

// The rows of the next batch; none at the end.
std::vector<EmbedStream::Row> EmbedStream::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || ended_[kReading] || ended_[kWriting]; });
  std::vector<Row> rows;
  if (ended_[kWriting]) return rows;
  int64_t tokens = 0;
  while (!ready_.empty()) {
    Row& row = ready_.front();
    if (!rows.empty() && tokens + row.report.tokens > model_.token_budget()) break;
    tokens += row.report.tokens;
    ready_tokens_ -= row.report.tokens;
    ready_bytes_ -= row.input.bytes;
    rows.push_back(std::move(row));
    ready_.pop_front();
  }
  changed_.notify_all();
  return rows;
}

Status EmbedStream::embed(Batch& batch) const {
  PackedTokens packed;
  for (const Row& row : batch.rows) {
    packed.ids.insert(packed.ids.end(), row.ids.begin(), row.ids.end());
    packed.offsets.push_back(static_cast<int64_t>(packed.ids.size()));
  }
  batch.vectors.resize(batch.rows.size() * static_cast<size_t>(model_.dimension()));
  Status status = options_.source.token_ids
                      ? model_.embed_ids(packed.ids, packed.offsets, batch.vectors)
                      : model_.embed_tokens(packed, batch.vectors);
  if (status.ok()) return status;
  constexpr std::string_view kSequence = "sequence ";
  Diagnostic diagnostic = status.error();
  if (diagnostic.at.starts_with(kSequence)) {
    const std::optional<int64_t> index =
        parse_i64(std::string_view(diagnostic.at).substr(kSequence.size()));
    if (index && *index >= 0 && *index < static_cast<int64_t>(batch.rows.size())) {
      diagnostic.at = place(batch.rows[static_cast<size_t>(*index)]);
    }
  }
  return fail(std::move(diagnostic));
}

Status EmbedStream::compute() {
  while (true) {
    Batch batch;
    batch.rows = take();
    if (batch.rows.empty()) return {};
    CAPRA_TRY(embed(batch));
    batch.progress = input_.progress();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.size() < kBatchesToWrite || ended_[kWriting]; });
    if (ended_[kWriting]) return {};
    done_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

Status EmbedStream::write_batch(const Batch& batch) {
  const auto dimension = static_cast<size_t>(model_.dimension());
  for (size_t i = 0; i < batch.rows.size(); ++i) {
    const Row& row = batch.rows[i];
    CAPRA_TRY(
        writer_.write({.index = row.index,
                       .id = &row.input.id,
                       .report = row.report,
                       .vector = std::span(batch.vectors).subspan(i * dimension, dimension)}));
    ++totals_.rows;
    totals_.truncated += row.report.truncated() ? 1 : 0;
    totals_.dropped += row.report.dropped_tokens;
    totals_.replaced += row.input.replaced + row.report.replaced;
  }
  progress_.update(totals_.rows, batch.progress);
  return {};
}

Status EmbedStream::write() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !done_.empty() || ended_[kComputing]; });
    if (done_.empty()) return {};
    const Batch batch = std::move(done_.front());
    done_.pop_front();
    const bool last = done_.empty();
    changed_.notify_all();
    lock.unlock();
    CAPRA_TRY(write_batch(batch));
    if (last) CAPRA_TRY(writer_.flush());
  }
}

// Whatever ends a stage ends what waits for it; without rows to come, the reader need not wait
// either.
void EmbedStream::run_stage(Stage stage, Status (EmbedStream::*body)()) {
  Status status = as_result<Status>([&] { return (this->*body)(); });
  const std::lock_guard lock(mutex_);
  if (!status.ok()) failures_[stage] = status.error();
  ended_[stage] = true;
  if (stage != kReading) input_.stop();
  changed_.notify_all();
}

Result<EmbedTotals> EmbedStream::run() {
  std::vector<std::thread> threads;
  threads.reserve(2);
  try {
    threads.emplace_back([&] { run_stage(kWriting, &EmbedStream::write); });
    threads.emplace_back([&] { run_stage(kReading, &EmbedStream::read); });
  } catch (const std::system_error& error) {
    const std::lock_guard lock(mutex_);
    failures_[kReading] = {"threads-unavailable",
                           std::string("the system starts no more threads: ") + error.what(),
                           {},
                           "end other programs"};
    ended_[kReading] = true;
  }
  run_stage(kComputing, &EmbedStream::compute);
  for (std::thread& thread : threads) thread.join();
  progress_.finish();
  for (const std::optional<Diagnostic>& failure : failures_) {
    if (failure) return fail(*failure);
  }
  return totals_;
}

}  // namespace capra::driver
