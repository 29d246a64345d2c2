// From a checkpoint's tensors to a model's parameters, by name.
#pragma once

#include <string>
#include <vector>

#include "capra/base/result.h"
#include "capra/io/checkpoint.h"
#include "capra/ir/parameters.h"
#include "models/encoder.h"

namespace capra {

/// What a checkpoint gave to an encoder.
struct Weights {
  Parameters parameters;          ///< f32 by parameter path; views of the file where it is f32
  std::vector<std::string> used;  ///< checkpoint names, sorted
  std::vector<std::string> known_unused;  ///< of tensors the family is known to leave alone
  std::vector<std::string> unused;        ///< of all others
};

/// Finds every parameter of `graph` in the checkpoint under one of its names. Fails with
/// `weights-incomplete`, which lists all that is missing or has another shape, or `weights-dtype`.
Result<Weights> load_weights(const Encoder& encoder, const Graph& graph,
                             const Checkpoint& checkpoint);

}  // namespace capra
