// capra embed: texts to vectors, in chunks, so that memory does not grow with the input.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "capra/base/number_text.h"
#include "models/embedding_parts.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"
#include "tools/capra/progress.h"
#include "tools/capra/text_input.h"
#include "tools/capra/vector_rows.h"

namespace capra::driver {
namespace {

// A chunk ends when it has this many rows or bytes: enough for many batches.
constexpr size_t kChunkRows = 1024;
constexpr size_t kChunkBytes = size_t{1} << 20;

struct Totals {
  int64_t rows = 0;
  int64_t truncated = 0;
  int64_t dropped = 0;
  int64_t replaced = 0;
};

Result<std::vector<InputRow>> read_chunk(TextInput& input) {
  std::vector<InputRow> rows;
  size_t bytes = 0;
  while (rows.size() < kChunkRows && bytes < kChunkBytes) {
    InputRow row;
    CAPRA_ASSIGN(const bool more, input.next(row));
    if (!more) break;
    bytes += row.text.size() + row.ids.size() * sizeof(int32_t);
    rows.push_back(std::move(row));
  }
  return rows;
}

// Rows of ids are used as they are, cut to the limit on the side that the tokenizer's config says;
// the opening and the closing id stay.
Result<PackedTokens> pack_ids(const EmbeddingModel& model, const TextInput& input,
                              std::span<const InputRow> rows, int64_t first, Overflow on_overflow) {
  PackedTokens packed;
  const int64_t vocabulary = model.parts().encoder->vocabulary();
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<int32_t>& ids = rows[i].ids;
    const std::string at = input.place(rows[i], first + static_cast<int64_t>(i));
    if (ids.empty()) {
      return fail("sequence-empty", "a row without token ids has no vector", at,
                  "give at least the special tokens");
    }
    const auto limit = static_cast<size_t>(model.max_length());
    TextReport report;
    if (ids.size() > limit) {
      if (on_overflow == Overflow::Fail) {
        return fail("too-many-tokens", fmt::format("{} tokens, the limit is {}", ids.size(), limit),
                    at, "raise --max-length, or cut with --on-overflow truncate");
      }
      report.dropped_tokens = static_cast<int64_t>(ids.size() - limit);
    }
    const size_t used = std::min(ids.size(), limit);
    const auto outside = std::ranges::find_if(ids, [&](int32_t id) { return id >= vocabulary; });
    if (outside != ids.end()) {
      return fail("token-id-out-of-range",
                  fmt::format("token id {}, the vocabulary has 0 to {}", *outside, vocabulary - 1),
                  at, "give ids of this model's tokenizer");
    }
    const size_t cut = model.parts().config.truncate_left ? ids.size() - used : 0;
    const auto kept = std::span(ids).subspan(cut, used);
    packed.ids.insert(packed.ids.end(), kept.begin(), kept.end());
    packed.ids[packed.ids.size() - used] = ids.front();
    packed.ids.back() = ids.back();
    packed.offsets.push_back(static_cast<int64_t>(packed.ids.size()));
    report.tokens = static_cast<int64_t>(used);
    packed.reports.push_back(report);
  }
  return packed;
}

// The model counts texts from the start of the chunk (`text 3, byte 5`, `sequence 3`); people count
// lines.
Failure placed(Status status, const TextInput& input, std::span<const InputRow> rows,
               int64_t first) {
  Diagnostic diagnostic = status.error();
  const std::string at = diagnostic.at;
  if (!at.starts_with("text ") && !at.starts_with("sequence ")) return status.take_failure();
  const size_t begin = at.find(' ') + 1;
  const size_t end = std::min(at.find(','), at.size());
  const std::optional<int64_t> index = parse_i64(std::string_view(at).substr(begin, end - begin));
  if (!index || *index < 0 || *index >= static_cast<int64_t>(rows.size())) {
    return status.take_failure();
  }
  diagnostic.at = input.place(rows[static_cast<size_t>(*index)], first + *index) + at.substr(end);
  return fail(std::move(diagnostic));
}

Result<std::vector<TextReport>> embed_chunk(const EmbeddingModel& model,
                                            const EmbedOptions& options, const TextInput& input,
                                            std::span<const InputRow> rows, int64_t first,
                                            std::vector<float>& vectors) {
  vectors.resize(rows.size() * static_cast<size_t>(model.dimension()));
  if (options.source.token_ids) {
    CAPRA_ASSIGN(PackedTokens packed,
                 pack_ids(model, input, rows, first, options.embedding.on_overflow));
    Status status = model.embed_ids(packed.ids, packed.offsets, vectors);
    if (!status.ok()) return placed(std::move(status), input, rows, first);
    return std::move(packed.reports);
  }
  std::vector<std::string_view> texts;
  texts.reserve(rows.size());
  for (const InputRow& row : rows) texts.push_back(row.text);
  std::vector<TextReport> reports(rows.size());
  Status status = model.embed(texts, vectors, reports);
  if (!status.ok()) return placed(std::move(status), input, rows, first);
  return reports;
}

void say(const EmbedOptions& options, const EmbeddingModel& model, const Totals& totals) {
  if (options.quiet) return;
  if (totals.truncated > 0) {
    fmt::print(stderr, "{} of {} texts were cut to {} tokens; {} tokens were dropped\n",
               totals.truncated, totals.rows, model.max_length(), totals.dropped);
  }
  if (totals.replaced > 0) {
    fmt::print(stderr, "{} invalid UTF-8 sequences were replaced by U+FFFD\n", totals.replaced);
  }
}

// With --json the rows on standard output are one document; beside a file, this is.
Json summary(const EmbedOptions& options, const EmbeddingModel& model, const Totals& totals) {
  Json document = Json::object();
  document.set("output", options.output).set("format", options.format);
  document.set("rows", totals.rows).set("dimension", model.dimension());
  document.set("truncated", totals.truncated).set("dropped_tokens", totals.dropped);
  return document.set("replaced", totals.replaced);
}

Result<std::string> row_format(const EmbedOptions& options) {
  if (!options.json || options.output != "-") return options.format;
  if (options.format == "jsonl") return std::string("json");
  return fail("option-invalid", "--json and --format " + options.format + " exclude each other",
              "--format", "leave one out, or give --output FILE");
}

}  // namespace

Result<int> run_embed(const EmbedOptions& options) {
  CAPRA_ASSIGN(const std::string format, row_format(options));
  CAPRA_ASSIGN(TextInput input, TextInput::open(options.source, options.embedding.strict_utf8));
  EmbeddingOptions embedding = options.embedding;
  embedding.tokenizer = !options.source.token_ids;
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, embedding));
  if (!options.source.token_ids) CAPRA_TRY(model.has_tokenizer());
  say_remarks(model.remarks(), options.quiet);
  CAPRA_ASSIGN(const std::unique_ptr<VectorWriter> writer,
               VectorWriter::open(format, options.output, model.dimension()));
  Progress progress("texts", options.quiet);
  Totals totals;
  std::vector<float> vectors;
  while (true) {
    CAPRA_ASSIGN(const std::vector<InputRow> rows, read_chunk(input));
    if (rows.empty()) break;
    CAPRA_ASSIGN(const std::vector<TextReport> reports,
                 embed_chunk(model, options, input, rows, totals.rows, vectors));
    const auto dimension = static_cast<size_t>(model.dimension());
    for (size_t i = 0; i < rows.size(); ++i) {
      const TextReport& report = reports[i];
      CAPRA_TRY(writer->write({.index = totals.rows,
                               .id = &rows[i].id,
                               .report = report,
                               .vector = std::span(vectors).subspan(i * dimension, dimension)}));
      ++totals.rows;
      totals.truncated += report.truncated() ? 1 : 0;
      totals.dropped += report.dropped_tokens;
      totals.replaced += rows[i].replaced + report.replaced;
    }
    progress.update(totals.rows, input.progress());
  }
  CAPRA_TRY(writer->finish());
  say(options, model, totals);
  if (options.json && options.output != "-") {
    CAPRA_TRY(print_result(summary(options, model, totals).text(2) + "\n"));
  }
  return kDone;
}

}  // namespace capra::driver
