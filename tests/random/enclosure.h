// How far a computation may be from the oracle's, element by element: intervals that hold every
// result of a machine whose ops each keep a bound.
#pragma once

#include <cstdint>
#include <vector>

#include "capra/ir/graph.h"
#include "tests/random/generate.h"

namespace capra::testing {

/// How far one op may be from the exact result on its operands: the sum of all three.
struct OpBound {
  double relative = 0;  ///< to the result; of sums and products, to the sum of the magnitudes
  double absolute = 0;
  int units = 0;  ///< of the last place of the dtype
};

/// A bound for each float dtype.
using OpBounds = OpBound (*)(DType dtype);

/// An element of an output: a number within [low, high], or, where a result hangs on rounding (a
/// comparison of what is nearly equal, a pole nearby, a number beyond the dtype), anything at all.
struct Enclosure {
  DType dtype = DType::F32;
  Array low;    ///< f64; of integers and bools the value itself, in their dtype
  Array high;   ///< f64; empty for others than floats
  Array known;  ///< bool: whether the element is bound at all
};

/// The outputs of a graph, in order: it is spelled in primitives, of which each adds its bound to
/// what its operands carry; data movement, choice, signs and constants add nothing.
std::vector<Enclosure> enclose(const Graph& graph, const GraphData& data, OpBounds bounds);

}  // namespace capra::testing
