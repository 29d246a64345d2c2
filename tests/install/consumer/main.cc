// Uses the installed library the way a reader of the documentation would: one op at once, the same
// op as a graph, and vectors from a model folder.
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/version.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "models/embedding_model.h"

namespace {

int failed(const capra::Diagnostic& diagnostic) {
  std::fprintf(stderr, "%s\n", capra::to_text(diagnostic).c_str());
  return 1;
}

double dot(const float* a, const float* b, size_t size) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::printf("capra %s\n", std::string(capra::version()).c_str());

  const auto graph = capra::parse_graph(
      "graph @main { %x = input : f32[tokens, 4]  %y = gelu %x {approximate = false}  output %y }",
      capra::all_ops());
  if (!graph.ok()) return failed(graph.error());
  std::printf("%s", capra::print_graph(*graph).c_str());

  const auto missing = capra::EmbeddingModel::load("no such folder");
  if (missing.ok() || capra::find_diagnostic_code(missing.error().code) == nullptr) return 3;

  const auto model = capra::EmbeddingModel::load(argv[1], {.tokenizer = false});
  if (!model.ok()) return failed(model.error());
  // "hello world", "hello, world" and "interest rates" in the ids of BERT's uncased vocabulary.
  const std::vector<int32_t> ids = {101,  7592, 2088, 102,  101,  7592, 1010,
                                    2088, 102,  101,  3037, 6165, 102};
  const std::vector<int64_t> offsets = {0, 4, 9, 13};
  const auto width = static_cast<size_t>(model->dimension());
  std::vector<float> vectors(3 * width);
  const auto status = model->embed_ids(ids, offsets, vectors);
  if (!status.ok()) return failed(status.error());
  const double near = dot(&vectors[0], &vectors[width], width);
  const double far = dot(&vectors[0], &vectors[2 * width], width);
  std::printf("hello world ~ hello, world: %.3f; ~ interest rates: %.3f\n", near, far);
  const bool unit = std::abs(dot(&vectors[0], &vectors[0], width) - 1) < 1e-6;
  return unit && near > 0.9 && far < 0.5 ? 0 : 4;
}
