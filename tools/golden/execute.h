// Executing the graphs of a case: seeded data, and how far two results are apart.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/array.h"
#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"

namespace capra::golden {

/// What one execution is given.
struct RunData {
  std::map<std::string, Array, std::less<>> inputs;  ///< by name
  Parameters parameters;                             ///< by path
};

/// Which values the data may hold.
enum class DataKind : uint8_t {
  Finite,   ///< numbers in [-2, 2]; integers in [-2, 2], unsigned ones in [0, 2]
  Special,  ///< the same, every third float a NaN, an infinity, a zero of either sign, or subnormal
};

/// What Special mixes in.
std::span<const double> special_values();

/// Data for the inputs and parameters of `graph`, the same for the same arguments. `given` is taken
/// as it is and its extents bind symbols; `bindings` bind more; the rest get small primes by turn.
Result<RunData> seeded_data(const Graph& graph,
                            const std::map<std::string, Array, std::less<>>& given,
                            DimBindings bindings, DataKind kind, uint64_t seed);

/// The inputs with every float's absolute value: what sums of them can lose is relative to their
/// sum.
RunData magnitudes(const RunData& data);

/// The outputs of `graph` by name, in double precision.
Result<std::map<std::string, Array>> run_on_oracle(const Graph& graph, const RunData& data);

/// The same on a target, op by op, in the types of the graph.
Result<std::map<std::string, Array>> run_on_target(std::string_view target, const Graph& graph,
                                                   const RunData& data);

/// The first difference, in words; empty when there is none. Without `within` bits must be equal
/// (any NaN equals any NaN); with it numbers may be that far apart, NaN and infinities as without.
std::string first_difference(const std::map<std::string, Array>& a,
                             const std::map<std::string, Array>& b, const double* within);

}  // namespace capra::golden
