// The random graphs of the published test battery: the same seed makes the same graph and samples.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "capra/targets/ga2/quantize/evaluate.h"
#include "tests/support/python_random.h"

namespace capra::ga2 {

/// Normal numbers around 0, row by row.
Matrix<double> normal_matrix(PythonRandom& random, Extents shape, double deviation);

/// A graph with samples to choose scales from, and one to run it on.
struct Case {
  Network network;
  std::vector<Sample> calibration;
  Sample test;
};

enum class CaseKind : uint8_t {
  Graph,  ///< chains of products, relus, softmaxes, sums and concatenations; `random_graph`
  Int4,   ///< the same with weights of 4 bits
  Slice,  ///< graphs around slices; `random_slice_graph`
  Fresh,  ///< as `Graph`, with other samples: those of the section on seeds 100 to 111
  Wild,   ///< none of the battery: wild_network.h
};

/// `graph`, `int4`, `slice`, `fresh`, `wild`.
std::string_view case_kind_name(CaseKind kind);

/// 30 samples to calibrate with; 2 of a wild one.
Case random_case(CaseKind kind, int64_t seed);

/// The sum of two large operands that cancel: 20 samples.
Case cancellation_case();

}  // namespace capra::ga2
