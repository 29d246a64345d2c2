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
Tensor broadcast(const Tensor& x, Shape shape);

}  // namespace capra
