// Parameters in another form than the model's: what depends on one parameter alone is made once,
// before the program runs, and only its result is kept.
#pragma once

#include <string>
#include <string_view>

#include "capra/ir/parameters.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/pass.h"

namespace capra {

/// Label of a group on one parameter. Its body is a chain of permute and convert.
inline constexpr std::string_view kPreparedParameter = "prepared_parameter";

/// Makes such a group of each chain of permute and convert on a parameter that has no other user.
extern const Pass kPrepareParameters;

/// Whether `id` is such a group.
bool is_prepared_parameter(const Graph& graph, NodeId id);

/// The steps of a body in order: `permute(axes=[1, 0])`, `convert(dtype=bf16)`.
std::string preparation_text(const Graph& body);

/// What the steps of a body make of the parameter's data: elements move by their bytes; each
/// convert rounds once. Fails with `parameter-type` for data of another type than the body reads.
Result<Array> prepared_data(const Graph& body, const Array& data);

/// Appends the group that is `source` (a parameter, or a prepared one, of the rewriter's source)
/// and then one more step. Returns its value in the result.
NodeId append_prepared(GraphRewriter& rewriter, NodeId source, const OpDef& op, Attrs attrs,
                       std::string path);

/// The parameter node that a parameter or a prepared one is made of; `kAbsent` for other nodes.
NodeId parameter_of(const Graph& graph, NodeId id);

}  // namespace capra
