// The list of model families: one line a family.
#include <algorithm>

#include "models/bert/bert.h"
#include "models/encoder.h"

namespace capra {
namespace {

constexpr ModelFamily kFamilies[] = {
    {"bert", "BERT: absolute positions, post-norm", &open_bert},
};

}  // namespace

std::span<const ModelFamily> model_families() { return kFamilies; }

Result<std::unique_ptr<Encoder>> open_encoder(const ModelConfig& config) {
  CAPRA_ASSIGN(const std::string type, config.string("model_type"));
  const auto* found = std::ranges::find(kFamilies, type, &ModelFamily::model_type);
  if (found != std::end(kFamilies)) return found->open(config);
  std::string known;
  for (const ModelFamily& family : kFamilies) {
    if (!known.empty()) known += ", ";
    known += family.model_type;
  }
  return fail("model-family-unknown", "model_type is \"" + type + "\"; known families: " + known,
              config.path(), "use a checkpoint of a known family");
}

}  // namespace capra
