// capra bench: speed on this machine as a share of what it can do, both measured in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <thread>

#include "capra/base/nearest_name.h"
#include "capra/targets/cpu/kernels/fma_peak.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "models/embedding_parts.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"
#include "tools/capra/progress.h"

namespace capra::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPeakWindowSeconds = 0.01;
constexpr int kMinRounds = 7;
constexpr size_t kBandwidthBytes = size_t{1} << 28;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// Numbers that are the same on every machine (xorshift64*).
class Random {
 public:
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dU;
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  uint64_t state_ = 20231107;
};

struct Workload {
  std::string name;
  std::vector<int64_t> lengths;
};

// 512 texts, log-normal lengths with median 28, clipped to 4..256.
std::vector<int64_t> mixed_lengths() {
  Random random;
  std::vector<int64_t> lengths;
  for (int i = 0; i < 512; ++i) {
    const double length = 28 * std::exp(0.8 * random.normal());
    lengths.push_back(static_cast<int64_t>(std::clamp(length, 4.0, 256.0)));
  }
  return lengths;
}

std::vector<Workload> all_workloads() {
  return {{"12", {12}},
          {"32", {32}},
          {"128", {128}},
          {"256", {256}},
          {"mixed", mixed_lengths()},
          {"8x256", std::vector<int64_t>(8, 256)}};
}

Result<std::vector<Workload>> choose_workloads(const std::vector<std::string>& names) {
  const std::vector<Workload> all = all_workloads();
  if (names.empty()) return all;
  std::vector<Workload> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &Workload::name);
    if (found == all.end()) {
      return fail("option-invalid", "there is no workload '" + name + "'", "--workload",
                  "workloads: 12, 32, 128, 256, mixed, 8x256");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

PackedTokens make_tokens(const Workload& workload, const Encoder& encoder) {
  Random random;
  PackedTokens tokens;
  for (const int64_t wanted : workload.lengths) {
    const int64_t length = std::min(wanted, encoder.longest_sequence());
    for (int64_t i = 0; i < length; ++i) {
      tokens.ids.push_back(
          static_cast<int32_t>(random.next() % static_cast<uint64_t>(encoder.vocabulary())));
    }
    tokens.offsets.push_back(static_cast<int64_t>(tokens.ids.size()));
  }
  return tokens;
}

// Runs `body(thread)` on `threads` threads that start together.
void together(int threads, const std::function<void(int)>& body) {
  std::atomic<int> waiting{threads};
  const auto run = [&](int thread) {
    waiting.fetch_sub(1);
    while (waiting.load() > 0) {
    }
    body(thread);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& other : others) other.join();
}

// Multiply-adds a second of all threads together, in operations.
double peak_window(kernels::Isa isa, int threads) {
  std::vector<double> rates(static_cast<size_t>(threads));
  together(threads, [&](int thread) {
    rates[static_cast<size_t>(thread)] = kernels::measure_fma_peak(isa, kPeakWindowSeconds);
  });
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

uint64_t sum_words(const uint64_t* words, size_t count) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

// Bytes read a second from a buffer larger than the caches of one core, by all threads together.
double bandwidth_window(const std::vector<uint64_t>& buffer, int threads) {
  static std::atomic<uint64_t> sink;
  const size_t part = buffer.size() / static_cast<size_t>(threads);
  const Clock::time_point start = Clock::now();
  together(threads, [&](int thread) {
    sink += sum_words(buffer.data() + part * static_cast<size_t>(thread), part);
  });
  return static_cast<double>(part * static_cast<size_t>(threads) * sizeof(uint64_t)) /
         seconds_since(start);
}

struct GroupRow {
  double nanoseconds = 0;
  double flops = 0;
  double bytes = 0;
};

struct WorkloadResult {
  std::string name;
  int threads = 0;
  int64_t tokens = 0;
  double seconds = 0;  ///< median of the rounds
  double flops = 0;
  double peak = 0;  ///< operations a second, median of the windows between the rounds
  std::map<std::string, GroupRow> groups;
};

// Where the time of one pass goes, batch by batch.
Result<std::map<std::string, GroupRow>> break_down(const EmbeddingModel::Parts& parts,
                                                   const PackedTokens& tokens) {
  std::map<std::string, GroupRow> groups;
  BatchWorkspace batch;
  batch.workspace = parts.executable->make_workspace(parts.pool);
  batch.workspace.set_timing(true);
  const int64_t count = tokens.sequences();
  for (int repetition = 0; repetition < 3; ++repetition) {
    groups.clear();
    for (int64_t first = 0; first < count;) {
      const int64_t last = batch_end(tokens.offsets, first, parts.token_budget);
      fill_batch(*parts.encoder, tokens.ids, tokens.offsets, first, last, batch);
      std::vector<float> vectors(static_cast<size_t>((last - first) * parts.head.dimension()));
      const Clock::time_point start = Clock::now();
      CAPRA_TRY(parts.run_batch(batch, 0, vectors, {}));
      const double total = seconds_since(start) * 1e9;
      double recorded = 0;
      for (const ExecutionRecord& record : batch.workspace.records()) {
        GroupRow& row = groups[record.label];
        row.nanoseconds += static_cast<double>(record.nanoseconds);
        row.flops += record.flops;
        row.bytes += record.bytes;
        recorded += static_cast<double>(record.nanoseconds);
      }
      groups["pooling and the rest"].nanoseconds += std::max(0.0, total - recorded);
      first = last;
    }
  }
  return groups;
}

Result<WorkloadResult> measure(const EmbeddingModel& model, const Workload& workload,
                               double seconds) {
  const EmbeddingModel::Parts& parts = model.parts();
  const PackedTokens tokens = make_tokens(workload, *parts.encoder);
  std::vector<float> vectors(static_cast<size_t>(tokens.sequences() * model.dimension()));
  WorkloadResult result{.name = workload.name,
                        .threads = model.threads(),
                        .tokens = static_cast<int64_t>(tokens.ids.size()),
                        .groups = {}};
  CAPRA_TRY(model.embed_ids(tokens.ids, tokens.offsets, vectors));
  std::vector<double> rounds;
  std::vector<double> peaks;
  const kernels::Isa isa = kernels::kernels().isa;
  const Clock::time_point start = Clock::now();
  while (static_cast<int>(rounds.size()) < kMinRounds || seconds_since(start) < seconds) {
    peaks.push_back(peak_window(isa, model.threads()));
    // Short workloads repeat, so that a round is long against the clock and the wake-up of a
    // thread.
    const Clock::time_point round = Clock::now();
    int repeated = 0;
    do {
      CAPRA_TRY(model.embed_ids(tokens.ids, tokens.offsets, vectors));
      ++repeated;
    } while (seconds_since(round) < kPeakWindowSeconds);
    rounds.push_back(seconds_since(round) / repeated);
  }
  result.seconds = median(rounds);
  result.peak = median(peaks);
  CAPRA_ASSIGN(result.groups, break_down(parts, tokens));
  for (const auto& [label, row] : result.groups) result.flops += row.flops;
  return result;
}

// The time that the machine's limits allow for a group, over the time it took.
double roofline_share(const GroupRow& row, double peak, double bandwidth) {
  if (row.nanoseconds <= 0) return 0;
  return std::max(row.flops / peak, row.bytes / bandwidth) / (row.nanoseconds * 1e-9);
}

std::string text_of(const WorkloadResult& result, double bandwidth) {
  std::string text = fmt::format(
      "{:<8} {} thread{}: {:.0f} tokens/s, {:.3f} ms, {:.1f} GFLOP/s, {:.1f} % of the peak "
      "{:.1f}\n",
      result.name, result.threads, result.threads == 1 ? "" : "s",
      static_cast<double>(result.tokens) / result.seconds, result.seconds * 1e3,
      result.flops / result.seconds * 1e-9, 100 * result.flops / result.seconds / result.peak,
      result.peak * 1e-9);
  double total = 0;
  for (const auto& [label, row] : result.groups) total += row.nanoseconds;
  std::vector<std::pair<std::string, GroupRow>> rows(result.groups.begin(), result.groups.end());
  std::ranges::sort(rows, [](const auto& a, const auto& b) {
    return a.second.nanoseconds > b.second.nanoseconds;
  });
  for (const auto& [label, row] : rows) {
    text += fmt::format("  {:<26} {:>5.1f} % of time {:>9.3f} GFLOP {:>9.3f} MB", label,
                        100 * row.nanoseconds / total, row.flops * 1e-9, row.bytes * 1e-6);
    const double share = roofline_share(row, result.peak, bandwidth);
    text += share > 0 ? fmt::format("  at {:.0f} % of the roofline\n", 100 * share) : "\n";
  }
  return text;
}

Json json_of(const WorkloadResult& result, double bandwidth) {
  Json groups = Json::array();
  double total = 0;
  for (const auto& [label, row] : result.groups) total += row.nanoseconds;
  for (const auto& [label, row] : result.groups) {
    Json group = Json::object();
    group.set("label", label).set("share_of_time", row.nanoseconds / total);
    group.set("flops", row.flops).set("bytes", row.bytes);
    groups.push(group.set("share_of_roofline", roofline_share(row, result.peak, bandwidth)));
  }
  Json row = Json::object();
  row.set("name", result.name).set("threads", static_cast<int64_t>(result.threads));
  row.set("tokens_per_second", static_cast<double>(result.tokens) / result.seconds);
  row.set("seconds", result.seconds);
  row.set("gflops", result.flops / result.seconds * 1e-9);
  row.set("share_of_peak", result.flops / result.seconds / result.peak);
  row.set("peak_gflops", result.peak * 1e-9);
  return row.set("groups", std::move(groups));
}

}  // namespace

Result<int> run_bench(const BenchOptions& options) {
  if (options.embedding.target != "cpu") {
    return fail("option-invalid", "bench measures the cpu, not " + options.embedding.target,
                "--target", "leave --target out");
  }
  CAPRA_ASSIGN(const std::vector<Workload> workloads, choose_workloads(options.workloads));
  std::vector<int> counts = options.thread_counts;
  if (counts.empty()) {
    const int all = options.embedding.threads > 0 ? options.embedding.threads : available_cpus();
    counts = all == 1 ? std::vector{1} : std::vector{1, all};
  }
  const char* isa = kernels::isa_name(kernels::kernels().isa);
  const std::vector<uint64_t> buffer(kBandwidthBytes / sizeof(uint64_t), 1);
  std::string text;
  Json peaks = Json::array();
  Json bandwidths = Json::array();
  Json rows = Json::array();
  for (const int threads : counts) {
    EmbeddingOptions embedding = options.embedding;
    embedding.threads = threads;
    embedding.tokenizer = false;
    CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, embedding));
    if (threads == counts.front()) say_remarks(model.remarks(), options.quiet);
    std::vector<double> windows;
    windows.reserve(kMinRounds);
    for (int i = 0; i < kMinRounds; ++i) windows.push_back(bandwidth_window(buffer, threads));
    const double bandwidth = median(windows);
    std::vector<double> all_peaks;
    std::string lines;
    for (const Workload& workload : workloads) {
      CAPRA_ASSIGN(const WorkloadResult result, measure(model, workload, options.seconds));
      all_peaks.push_back(result.peak);
      lines += text_of(result, bandwidth);
      rows.push(json_of(result, bandwidth));
    }
    Json peak = Json::object();
    peak.set("isa", isa).set("threads", static_cast<int64_t>(threads));
    peaks.push(peak.set("gflops", median(all_peaks) * 1e-9));
    Json read = Json::object();
    read.set("threads", static_cast<int64_t>(threads));
    bandwidths.push(read.set("gbytes_per_second", bandwidth * 1e-9));
    text +=
        fmt::format("{}, {} thread{}: {:.1f} GFLOP/s of multiply-adds, {:.1f} GB/s read\n", isa,
                    threads, threads == 1 ? "" : "s", median(all_peaks) * 1e-9, bandwidth * 1e-9) +
        lines;
  }
  Json document = Json::object();
  document.set("peak", std::move(peaks)).set("bandwidth", std::move(bandwidths));
  document.set("workloads", std::move(rows));
  CAPRA_TRY(print_result(options.json ? document.text(2) + "\n" : text));
  return kDone;
}

}  // namespace capra::driver
