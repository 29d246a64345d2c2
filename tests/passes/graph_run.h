// Running small graphs in tests of passes: data, cpu op by op, cpu compiled, bit comparison.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/passes/pass.h"
#include "tests/support/sequence.h"

namespace capra::testing {

/// Parses graph text with all ops; fails the test and gives an empty graph when it does not parse.
Graph parse(std::string_view text);

struct GraphData {
  std::vector<Array> inputs;  ///< in the order of graph.inputs()
  Parameters parameters;
};

/// Data for a graph whose symbols are all `tokens`. Integer inputs are indices below `index_bound`.
/// With `specials` every third float is a NaN, an infinity, a zero of either sign or subnormal.
GraphData make_data(const Graph& graph, int64_t tokens, int64_t index_bound, bool specials,
                    uint64_t seed);

/// What passes are given for the cpu target: its table and its kernels for folding.
PassContext cpu_context(const Parameters* parameters);

/// The outputs in order, each op run by itself.
std::vector<Array> run_eager(const Graph& graph, const GraphData& data);
/// The outputs in order, groups run as one where cpu has a kernel for them. The graph must be
/// legal.
std::vector<Array> run_compiled(const Graph& graph, const GraphData& data);

/// Where two results differ, in words; empty when they have the same types and bits. Any NaN equals
/// any NaN.
std::string difference(const std::vector<Array>& a, const std::vector<Array>& b);

/// How many groups have this label.
int count_groups(const Graph& graph, std::string_view label);
/// How many nodes have this op, group bodies not counted.
int count_ops(const Graph& graph, const OpDef& op);

}  // namespace capra::testing
