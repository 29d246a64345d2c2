// Embed: sentences to vectors with a checkpoint folder, and how similar they are.
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/diagnostic.h"
#include "models/embedding_model.h"

namespace {

using namespace capra;

constexpr std::string_view kTexts[] = {
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
};

Status embed(const char* folder) {
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(folder));
  const auto width = static_cast<size_t>(model.dimension());
  std::vector<float> vectors(std::size(kTexts) * width);
  std::vector<TextReport> reports(std::size(kTexts));
  CAPRA_TRY(model.embed(kTexts, vectors, reports));
  for (size_t i = 0; i < std::size(kTexts); ++i) {
    std::printf("%s  [%lld tokens]\n", std::string(kTexts[i]).c_str(),
                static_cast<long long>(reports[i].tokens));
  }
  for (size_t a = 0; a < std::size(kTexts); ++a) {
    for (size_t b = a + 1; b < std::size(kTexts); ++b) {
      // Vectors of this checkpoint have length 1, so the product is the cosine.
      double similarity = 0;
      for (size_t i = 0; i < width; ++i) {
        similarity += double{vectors[a * width + i]} * double{vectors[b * width + i]};
      }
      std::printf("%zu ~ %zu: %.4f\n", a, b, similarity);
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: 01_embed MODEL_FOLDER\n");
    return 2;
  }
  const Status status = embed(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", to_text(status.error()).c_str());
  return 2;
}
