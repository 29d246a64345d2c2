// broadcast: extents of 1 repeated, leading axes added.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct BroadcastAttrs {
  Shape shape = {};
  static constexpr auto fields() {
    return std::tuple{Field{"shape", &BroadcastAttrs::shape, "shape of the result"}};
  }
};

extern const OpDef kBroadcast;
/// x aligned to the right of `shape`, each extent 1 or that of `shape`, which is the result's; any
/// dtype. Throws `operand-shape`.
Tensor broadcast(const Tensor& x, Shape shape);

}  // namespace capra
