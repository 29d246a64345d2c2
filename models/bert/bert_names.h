// How a BERT parameter is called in checkpoints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capra {

/// The names `parameter_path` may have, best first: derived from the path, with and without the
/// prefix `bert.`, and with the legacy `gamma` and `beta` of layer norms.
std::vector<std::string> bert_checkpoint_names(std::string_view parameter_path);

/// Tensors a BERT checkpoint may hold that a sentence encoder does not use: `position_ids`, the
/// pooler, the pretraining heads.
bool bert_known_unused(std::string_view checkpoint_name);

}  // namespace capra
