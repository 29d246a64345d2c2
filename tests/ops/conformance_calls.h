// The calls that conformance tests make, generated from the records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/op_def.h"

namespace capra {

/// One call: an op on operands of these types.
struct Call {
  const OpDef* op;
  std::string attrs;
  std::vector<TensorType> types;
  std::vector<bool> absent;
};

/// The call as a graph with inputs x0, x1, ... and the output `result`; fails where the record
/// refuses.
Result<Graph> graph_of(const Call& call);

/// `add f32[2] f32[2]`, for messages.
std::string text_of(const Call& call);

/// Every call that the record allows on `dtype`: all operands over the classes of shapes (scalar,
/// one, vector, odd, empty, broadcast, large), and structured calls of ops that need them.
std::vector<Call> calls_of(const OpDef& op, DType dtype);

/// Inputs that cannot be any number: indices within what they index, offsets that ascend to the
/// number of tokens with an empty sequence among them.
std::map<std::string, Array, std::less<>> given_data(const Call& call);

}  // namespace capra
