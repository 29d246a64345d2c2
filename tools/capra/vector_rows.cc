// JSON Lines, CSV, and version 1.0 of the npy format (numpy.lib.format).
#include "tools/capra/vector_rows.h"

#include <bit>
#include <cstring>
#include <utility>

#include "capra/base/number_text.h"

namespace capra::driver {
namespace {

// One object a line; `document` makes the lines one array.
class JsonWriter : public VectorWriter {
 public:
  JsonWriter(Output output, bool document) : output_(std::move(output)), document_(document) {}

  Status write(const VectorRow& row) override {
    line_ = document_ ? (any_ ? ",\n" : "[\n") : "";
    any_ = true;
    line_ += "{\"index\":" + number_text(row.index);
    if (row.id != nullptr && !row.id->is_null()) line_ += ",\"id\":" + row.id->text();
    line_ += ",\"tokens\":" + number_text(row.report.tokens);
    line_ += row.report.truncated() ? ",\"truncated\":true" : ",\"truncated\":false";
    line_ += ",\"dropped_tokens\":" + number_text(row.report.dropped_tokens);
    line_ += ",\"embedding\":[";
    for (size_t i = 0; i < row.vector.size(); ++i) {
      if (i > 0) line_ += ',';
      append_json_number(line_, row.vector[i]);
    }
    line_ += document_ ? "]}" : "]}\n";
    return output_.write(line_);
  }
  Status flush() override { return output_.flush(); }
  Status finish() override {
    if (document_) CAPRA_TRY(output_.write(any_ ? "\n]\n" : "[]\n"));
    return output_.finish();
  }

 private:
  Output output_;
  bool document_;
  bool any_ = false;
  std::string line_;
};

// RFC 4180: quotes round a field that needs them, doubled inside.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

class CsvWriter : public VectorWriter {
 public:
  CsvWriter(Output output, int64_t dimension) : output_(std::move(output)), dimension_(dimension) {}

  Status write(const VectorRow& row) override {
    CAPRA_TRY(write_header());
    line_ = number_text(row.index) + ",";
    if (row.id != nullptr && !row.id->is_null()) {
      line_ += csv_field(row.id->as_string() != nullptr ? *row.id->as_string() : row.id->text());
    }
    line_ += "," + number_text(row.report.tokens) +
             (row.report.truncated() ? ",true," : ",false,") +
             number_text(row.report.dropped_tokens);
    for (const float value : row.vector) {
      line_ += ',';
      line_ += number_text(value);
    }
    line_ += "\n";
    return output_.write(line_);
  }
  Status flush() override { return output_.flush(); }
  Status finish() override {
    CAPRA_TRY(write_header());
    return output_.finish();
  }

 private:
  Status write_header() {
    if (std::exchange(headed_, true)) return {};
    std::string header = "index,id,tokens,truncated,dropped_tokens";
    for (int64_t i = 0; i < dimension_; ++i) header += ",v" + number_text(i);
    return output_.write(header + "\n");
  }

  Output output_;
  int64_t dimension_;
  bool headed_ = false;
  std::string line_;
};

// The header says how many rows there are, which is known at the end: rows go to a file that can be
// rewound, which for standard output is a temporary one.
class NpyWriter : public VectorWriter {
 public:
  NpyWriter(Output output, int64_t dimension) : output_(std::move(output)), dimension_(dimension) {}

  Status write(const VectorRow& row) override {
    static_assert(std::endian::native == std::endian::little);
    CAPRA_TRY(begin());
    ++rows_;
    const auto* bytes = reinterpret_cast<const char*>(row.vector.data());
    return put({bytes, row.vector.size_bytes()});
  }

  Status finish() override {
    CAPRA_TRY(begin());
    if (output_.is_file()) {
      CAPRA_TRY(output_.rewrite_start(header()));
      return output_.finish();
    }
    CAPRA_TRY(output_.write(header()));
    // Rewinding flushes: a full disk shows here at the latest.
    if (std::fseek(spool_.get(), 0, SEEK_SET) != 0) return spool_failure();
    char buffer[1 << 16];
    size_t copied = 0;
    size_t got = 0;
    while ((got = std::fread(buffer, 1, sizeof buffer, spool_.get())) > 0) {
      CAPRA_TRY(output_.write({buffer, got}));
      copied += got;
    }
    if (copied != static_cast<size_t>(rows_ * dimension_) * sizeof(float)) return spool_failure();
    return output_.finish();
  }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string header() const {
    // Magic, version 1.0, header length, then a Python dictionary padded to 128 bytes in all.
    std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                             number_text(rows_) + ", " + number_text(dimension_) + "), }";
    constexpr size_t kTotal = 128;
    dictionary.resize(kTotal - 10 - 1, ' ');
    dictionary += '\n';
    std::string header = "\x93NUMPY";
    header += '\x01';
    header += '\0';
    header += static_cast<char>(dictionary.size() & 0xff);
    header += static_cast<char>(dictionary.size() >> 8);
    return header + dictionary;
  }

  static Failure spool_failure() {
    return fail("output-unwritable", "the temporary file for npy rows cannot be written or read",
                "standard output", "free space in the folder of temporary files, or give --output");
  }

  Status begin() {
    if (std::exchange(begun_, true)) return {};
    if (output_.is_file()) return output_.write(header());
    spool_.reset(std::tmpfile());
    if (spool_ == nullptr) {
      return spool_failure();
    }
    return {};
  }

  Status put(std::string_view bytes) {
    if (output_.is_file()) return output_.write(bytes);
    if (std::fwrite(bytes.data(), 1, bytes.size(), spool_.get()) == bytes.size()) return {};
    return spool_failure();
  }

  Output output_;
  int64_t dimension_;
  int64_t rows_ = 0;
  bool begun_ = false;
  std::unique_ptr<std::FILE, CloseFile> spool_;
};

}  // namespace

Result<std::unique_ptr<VectorWriter>> VectorWriter::open(std::string_view format,
                                                         const std::string& path,
                                                         int64_t dimension) {
  if (format != "jsonl" && format != "json" && format != "csv" && format != "npy") {
    return fail("output-format-unknown", "there is no output format '" + std::string(format) + "'",
                "--format", "use jsonl, json, npy or csv");
  }
  CAPRA_ASSIGN(Output output, Output::open(path));
  std::unique_ptr<VectorWriter> writer;
  if (format == "csv") {
    writer = std::make_unique<CsvWriter>(std::move(output), dimension);
  } else if (format == "npy") {
    writer = std::make_unique<NpyWriter>(std::move(output), dimension);
  } else {
    writer = std::make_unique<JsonWriter>(std::move(output), format == "json");
  }
  return writer;
}

}  // namespace capra::driver
