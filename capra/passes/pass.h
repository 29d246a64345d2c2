// What a pass is: a function from graph to graph with a name, one sentence and its effect on
// numbers; and what passes are given and report.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/ops/op_table.h"

namespace capra {

/// What a rewrite does to numbers.
enum class NumericEffect : uint8_t {
  Exact,        ///< the same bits on cpu
  Meaning,      ///< the same real function, rounded otherwise, within the op's bound
  Approximate,  ///< another function; recorded on the node
};

/// `exact`, `meaning`, `approximate`.
std::string_view numeric_effect_name(NumericEffect effect);

/// The lists of passes on the way to a program, as reports name them.
inline constexpr std::string_view kAskedFor = "asked for";  ///< by options of the user
inline constexpr std::string_view kTapePasses = "tape passes";
inline constexpr std::string_view kCorePasses = "core passes";
inline constexpr std::string_view kDagPasses = "dag passes";
inline constexpr std::string_view kLegalizing = "legalize";
inline constexpr std::string_view kProgramPasses = "program passes";

/// One change that a pass made. An approximation states a bound; the pipeline refuses one that does
/// not.
struct Rewrite {
  std::string pass;
  std::string rule;       ///< which identity
  std::string node;       ///< path of the node in the model, or its value in text (`%12`)
  std::string note = {};  ///< what was found and what stands there now
  /// None: that of the pass. The pipeline fills it in.
  std::optional<NumericEffect> effect = {};
  std::string reason = {};     ///< of an approximation
  double max_abs_error = 0;    ///< of an approximation, as there
  double max_rel_error = 0;    ///< of an approximation, as there
  std::string_view list = {};  ///< whose pass it was; the pipeline fills it in
};

/// An approximation in force.
struct Approximation {
  std::string node;            ///< path of the node in the model, or its value in text
  std::string legalized_from;  ///< `gelu(approximate=false)`
  std::string legalized_to;    ///< what runs: `gelu(approximate=true)`
  std::string reason;
  double max_abs_error = 0;  ///< 0: none is stated
  /// Of each value that is rounded to a narrower dtype, in its normal range; 0: none is stated.
  double max_rel_error = 0;
};

/// What the notes of a graph's nodes record, those in groups included: one for each
/// `legalizedFrom`, with the notes up to the next. A node may have several, oldest first.
std::vector<Approximation> approximations(const Graph& graph);
/// What rewrites of effect `approximate` record.
std::vector<Approximation> approximations(std::span<const Rewrite> rewrites);

/// One run of a pass that changed something.
struct PassChange {
  std::string_view stage;  ///< `tape`, `graph` or `program`
  std::string_view list;   ///< `core passes`, ...: each run counts in one
  std::string subject;     ///< name of the graph
  std::string pass;
  NumericEffect effect = NumericEffect::Exact;
  int64_t before = 0;  ///< entries of the tape, nodes of the graph or operations of the program
  int64_t after = 0;
};

/// A parameter that outputs need, and that is read no more because another one has its data.
struct MergedParameter {
  std::string path;
  std::string into;  ///< the path of the other, which is read in its place
};

/// What passes did, in order.
struct PassReport {
  std::vector<PassChange> changes;
  std::vector<Rewrite> rewrites;
  std::vector<MergedParameter> merged;
  std::vector<std::string>
      lines;  ///< `GELU_APPROX_LEGALIZED node=...`: one a rewrite that must be said

  void append(PassReport&& later);
};

/// Fills in what the rewrites from number `first` on leave to the pipeline, after the run that
/// `change` is about. Fails with `approximation-unbounded` where the pass is an approximation and
/// one of them states no bound, or there are none.
Status complete_rewrites(PassReport& report, size_t first, const PassChange& change);

/// Runs one op on data: a target's own executor, so that folding gives the bits of running. An
/// operand without data is an absent optional one.
using Evaluator = std::function<Result<Array>(const OpDef& op, std::span<const Array> operands,
                                              const Attrs& attrs)>;

/// What passes know beside the graph. Everything is optional: a pass that needs what is missing
/// does nothing, except `legalize`, which needs a table.
struct PassContext {
  const OpTable* table = nullptr;          ///< what the target runs itself
  Granularity granularity = {};            ///< what it takes whole without a row
  std::string_view target = {};            ///< its name, for diagnostics
  Evaluator evaluate = nullptr;            ///< without it nothing is folded
  const Parameters* parameters = nullptr;  ///< without it only one path equals itself
  PassReport report = {};
};

/// A pass. Records live as long as the lists that name them.
struct Pass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  NumericEffect effect = NumericEffect::Exact;
  std::function<Result<Graph>(const Graph& graph, PassContext& context)> run;
};

/// How diagnostics and reports call a node: its path in the model, or its value in text (`%12`).
std::string node_label(const Graph& graph, NodeId id);

}  // namespace capra
