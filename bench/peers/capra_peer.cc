// The peer that is Capra: token ids in, vectors out, one JSON line each way (README.md).
//   capra_peer MODEL THREADS
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "capra/io/json.h"
#include "capra/targets/cpu/kernels/fma_peak.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "models/embedding_model.h"

namespace capra {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPeakSeconds = 0.1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Operations a second of fused multiply-adds, all threads together.
double measure_peak(int threads) {
  std::vector<double> rates(static_cast<size_t>(threads));
  std::atomic<int> waiting{threads};
  std::vector<std::thread> others;
  const auto run = [&](size_t thread) {
    waiting.fetch_sub(1);
    while (waiting.load() > 0) std::this_thread::yield();
    rates[thread] = kernels::measure_fma_peak(kernels::kernels().isa, kPeakSeconds);
  };
  for (size_t thread = 1; thread < rates.size(); ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& other : others) other.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

// A batch as it is given: a list of texts, each a list of token ids.
Result<std::vector<std::vector<int32_t>>> read_batch(const Json& batch) {
  std::vector<std::vector<int32_t>> texts;
  for (const Json& text : batch.items()) {
    std::vector<int32_t>& ids = texts.emplace_back();
    for (const Json& id : text.items()) {
      if (!id.as_i64())
        return fail("input-token-ids", "a token id is " + std::string(id.kind_text()));
      ids.push_back(static_cast<int32_t>(*id.as_i64()));
    }
  }
  return texts;
}

Status embed(const EmbeddingModel& model, const std::vector<std::vector<int32_t>>& texts,
             std::span<float> vectors) {
  PackedTokens tokens;
  for (const std::vector<int32_t>& text : texts) {
    tokens.ids.insert(tokens.ids.end(), text.begin(), text.end());
    tokens.offsets.push_back(static_cast<int64_t>(tokens.ids.size()));
  }
  return model.embed_ids(tokens.ids, tokens.offsets, vectors);
}

// Little-endian bytes, two digits each.
std::string hex_of(std::span<const float> values) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const float value : values) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) {
      text += kDigits[bits >> (shift + 4) & 15];
      text += kDigits[bits >> shift & 15];
    }
  }
  return text;
}

template <class T>
T value_or(const std::optional<T>& value, T otherwise) {
  return value ? *value : otherwise;
}

Result<Json> answer(const EmbeddingModel& model, const std::string& line) {
  CAPRA_ASSIGN(const Json request, Json::parse(line, "request"));
  static const Json kNothing;
  const auto member = [&](std::string_view key) -> const Json& {
    const Json* found = request.find(key);
    return found != nullptr ? *found : kNothing;
  };
  Json reply = Json::object();
  if (member("op").as_string() != nullptr && *member("op").as_string() == "peak") {
    return reply.set("flops", measure_peak(model.threads()));
  }
  std::vector<std::vector<std::vector<int32_t>>> batches;
  size_t count = 0;
  for (const Json& batch : member("batches").items()) {
    CAPRA_ASSIGN(std::vector<std::vector<int32_t>> texts, read_batch(batch));
    count += texts.size();
    batches.push_back(std::move(texts));
  }
  if (count == 0) return fail("input-missing", "a request without texts");
  const int64_t repeat = value_or<int64_t>(member("repeat").as_i64(), 1);
  const double wanted = value_or<double>(member("seconds").as_f64(), 0);
  const auto dimension = static_cast<size_t>(model.dimension());
  Json seconds = Json::array();
  std::vector<float> vectors;
  double total = 0;
  for (int64_t i = 0; i < repeat || total < wanted; ++i) {
    vectors.clear();
    const Clock::time_point start = Clock::now();
    vectors.resize(count * dimension);
    std::span<float> rest = vectors;
    for (const std::vector<std::vector<int32_t>>& texts : batches) {
      CAPRA_TRY(embed(model, texts, rest.first(texts.size() * dimension)));
      rest = rest.subspan(texts.size() * dimension);
    }
    const double elapsed = seconds_since(start);
    total += elapsed;
    seconds.push(elapsed);
  }
  reply.set("seconds", std::move(seconds));
  if (value_or(member("vectors").as_bool(), false)) reply.set("vectors", hex_of(vectors));
  return reply;
}

Status serve(const std::string& folder, int threads) {
  // Golden texts are longer than the checkpoint's own limit.
  const EmbeddingOptions options{.threads = threads, .max_length = 512, .tokenizer = false};
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(folder, options));
  std::cout << Json::object().set("ready", true).text() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const Result<Json> reply = answer(model, line);
    const Json text = reply.ok() ? *reply : Json::object().set("error", to_text(reply.error()));
    std::cout << text.text() << std::endl;
  }
  return {};
}

}  // namespace
}  // namespace capra

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: capra_peer MODEL THREADS\n", stderr);
    return 2;
  }
  const capra::Status status = capra::serve(argv[1], std::atoi(argv[2]));
  if (status.ok()) return 0;
  std::cout << capra::Json::object().set("error", to_text(status.error())).text() << std::endl;
  return 1;
}
