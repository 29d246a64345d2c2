// capra embed: texts to vectors.
#include <fmt/format.h>

#include <cstdio>

#include "tools/capra/command.h"
#include "tools/capra/embed_stream.h"
#include "tools/capra/output.h"
#include "tools/capra/progress.h"
#include "tools/capra/text_input.h"
#include "tools/capra/vector_rows.h"

namespace capra::driver {
namespace {

void say(const EmbedOptions& options, const EmbeddingModel& model, const EmbedTotals& totals) {
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
Json summary(const EmbedOptions& options, const EmbeddingModel& model, const EmbedTotals& totals) {
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
  CAPRA_ASSIGN(const EmbedTotals totals, EmbedStream(model, options, input, *writer).run());
  CAPRA_TRY(writer->finish());
  say(options, model, totals);
  if (options.json && options.output != "-") {
    CAPRA_TRY(print_result(summary(options, model, totals).text(2) + "\n"));
  }
  return kDone;
}

}  // namespace capra::driver
