// The whole library on one encoder: prints a hash of the bits of every length's hidden states, and
// checks on the way that eager execution, any thread count and any batch give the same bits. Run
// once for each instruction set (CAPRA_ISA chooses); the lines must be the same on all of them.
//
//   encoder_hashes small|FOLDER LENGTHS [THREADS...]      LENGTHS as 1-80,93,106
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/targets/all_targets.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "models/embedding_parts.h"
#include "models/weights.h"
#include "tests/models/small_encoder.h"

namespace capra {
namespace {

struct Model {
  std::unique_ptr<Encoder> encoder;
  Parameters parameters;
  Graph graph;
};

[[noreturn]] void stop(const Diagnostic& diagnostic) {
  std::fprintf(stderr, "%s\n", to_text(diagnostic).c_str());
  std::exit(2);
}

template <class T>
T take(Result<T> result) {
  if (!result.ok()) stop(result.error());
  return *std::move(result);
}

Model open_model(const std::string& name) {
  Model model;
  if (name == "small") {
    model.encoder = make_bert(testing::small_bert_config());
  } else {
    model.encoder = take(open_encoder(take(ModelConfig::open_folder(name))));
  }
  model.graph = model.encoder->trace({});
  model.parameters =
      name == "small"
          ? testing::seeded_parameters(model.graph, 7)
          : take(load_weights(*model.encoder, model.graph, take(Checkpoint::open_folder(name))))
                .parameters;
  return model;
}

std::vector<int64_t> parse_lengths(const std::string& text) {
  std::vector<int64_t> lengths;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const size_t dash = part.find('-');
    const int64_t first = std::atoll(part.c_str());
    const int64_t last = dash == std::string::npos ? first : std::atoll(part.c_str() + dash + 1);
    for (int64_t length = first; length <= last; ++length) lengths.push_back(length);
    at = end + 1;
  }
  return lengths;
}

// The ids of a text depend on its length alone, not on where it stands.
std::vector<int32_t> text_of(int64_t length, int64_t vocabulary) {
  testing::Random numbers(static_cast<uint64_t>(length));
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<int32_t>(numbers.next() % static_cast<uint64_t>(vocabulary)));
  }
  return ids;
}

PackedTokens pack_texts(const std::vector<int64_t>& lengths, int64_t vocabulary) {
  PackedTokens tokens;
  for (const int64_t length : lengths) {
    const std::vector<int32_t> ids = text_of(length, vocabulary);
    tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
    tokens.offsets.push_back(static_cast<int64_t>(tokens.ids.size()));
  }
  return tokens;
}

class Runner {
 public:
  Runner(const Model& model, int threads)
      : model_(model), pool_(std::make_shared<ThreadPool>(threads)) {
    const Target* cpu = take(find_target(all_targets(), "cpu"));
    CompileOptions options;
    options.pool = pool_;
    executable_ = take(compile(*cpu, model.graph, model.parameters, options));
    workspace_ = executable_->make_workspace(pool_);
    eager_ = cpu->eager(&model.parameters, pool_);
  }

  // Hidden states of sequences [first, last) in one batch.
  Array batch(const PackedTokens& tokens, int64_t first, int64_t last) {
    BatchWorkspace batch;
    fill_batch(*model_.encoder, tokens.ids, tokens.offsets, first, last, batch);
    std::array<int64_t, 2> extents;
    return take(executable_->run(workspace_, batch_inputs(batch, extents))).front();
  }

  Array eager(const PackedTokens& tokens, int64_t text) {
    BatchWorkspace batch;
    fill_batch(*model_.encoder, tokens.ids, tokens.offsets, text, text + 1, batch);
    std::vector<Tensor> inputs;
    for (const std::vector<int32_t>* values : {&batch.ids, &batch.positions, &batch.offsets}) {
      inputs.push_back(Tensor::of_data(
          eager_, Array::of<int32_t>(DType::I32, {static_cast<int64_t>(values->size())}, *values)));
    }
    return replay(model_.graph, eager_, inputs).front().array();
  }

 private:
  const Model& model_;
  std::shared_ptr<ThreadPool> pool_;
  std::unique_ptr<Executable> executable_;
  Workspace workspace_;
  Context eager_;
};

int64_t differing(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return static_cast<int64_t>(a.size() + b.size());
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) ++count;
  }
  return count;
}

uint64_t hash(std::span<const float> values) {
  uint64_t state = 0xcbf29ce484222325U;
  for (const std::byte byte : std::as_bytes(values)) {
    state = (state ^ static_cast<uint64_t>(byte)) * 0x100000001b3U;
  }
  return state;
}

// Texts in batches of some 700 tokens, in the given order and back to front: every text must give
// the bits it gives alone.
int64_t check_batches(Runner& runner, const std::vector<int64_t>& lengths, int64_t vocabulary,
                      const std::vector<Array>& alone) {
  int64_t wrong = 0;
  for (const bool reversed : {false, true}) {
    std::vector<size_t> order(lengths.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = reversed ? order.size() - 1 - i : i;
    std::vector<int64_t> arranged;
    for (const size_t index : order) arranged.push_back(lengths[index]);
    const PackedTokens tokens = pack_texts(arranged, vocabulary);
    for (int64_t first = 0; first < tokens.sequences();) {
      const int64_t last = batch_end(tokens.offsets, first, 700);
      const Array states = runner.batch(tokens, first, last);
      const std::span<const float> values = states.as<float>();
      const auto width = static_cast<size_t>(states.sizes()[1]);
      size_t row = 0;
      for (int64_t text = first; text < last; ++text) {
        const auto size = static_cast<size_t>(arranged[static_cast<size_t>(text)]) * width;
        wrong += differing(values.subspan(row, size),
                           alone[order[static_cast<size_t>(text)]].as<float>());
        row += size;
      }
      first = last;
    }
  }
  return wrong;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: encoder_hashes small|FOLDER LENGTHS [THREADS...]\n");
    return 2;
  }
  const Model model = open_model(argv[1]);
  const std::vector<int64_t> lengths = parse_lengths(argv[2]);
  const int64_t vocabulary = model.encoder->vocabulary();
  std::vector<int> counts = {1};
  for (int i = 3; i < argc; ++i) counts.push_back(std::atoi(argv[i]));

  const PackedTokens tokens = pack_texts(lengths, vocabulary);
  std::vector<Array> alone;
  int64_t wrong = 0;
  for (const int threads : counts) {
    Runner runner(model, threads);
    for (size_t i = 0; i < lengths.size(); ++i) {
      const auto text = static_cast<int64_t>(i);
      Array states = runner.batch(tokens, text, text + 1);
      if (alone.size() == i) alone.push_back(states);
      wrong += differing(states.as<float>(), alone[i].as<float>());
      if (threads == counts.back()) {
        wrong += differing(runner.eager(tokens, text).as<float>(), alone[i].as<float>());
      }
    }
    wrong += check_batches(runner, lengths, vocabulary, alone);
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::printf("%s %lld %016llx\n", argv[1] == std::string("small") ? "small" : "checkpoint",
                static_cast<long long>(lengths[i]),
                static_cast<unsigned long long>(hash(alone[i].as<float>())));
  }
  std::fprintf(stderr, "isa %s: %lld differing values\n", kernels::isa_name(kernels::kernels().isa),
               static_cast<long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace capra

int main(int argc, char** argv) { return capra::run(argc, argv); }
