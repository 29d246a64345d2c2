// The operator pages and the matrix of ops and targets, written from the records and the tables.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/op_def.h"
#include "capra/ops/op_table.h"

namespace capra {

/// A column of the matrix.
struct DocTarget {
  std::string_view name;
  const OpTable* table = nullptr;  ///< null: the target takes every op as its record says
  /// Whether the target can be given this graph of one call; null: whatever the table names or a
  /// record decomposes.
  std::function<bool(const Graph& call)> legal = nullptr;
};

/// What came out when an outside judge compared an op's program with the oracle.
struct ConformanceResult {
  DType dtype;
  std::string result;       ///< `passed`, `unsupported` or `expected_to_fail`
  std::string reason = {};  ///< of the others
};
/// All results of one judge.
struct Conformance {
  std::string judge;  ///< who compared, its version and its device
  std::map<std::string, std::vector<ConformanceResult>, std::less<>> ops;  ///< by name
};

/// One page in Markdown; `path` is relative to the folder of all pages.
struct DocPage {
  std::string path;
  std::string text;
};

/// What a target does with an op: `native`, `decomposed`, `as defined` (no table) or `refused`.
std::string_view op_support(const OpDef& op, const OpTable* table);

/// The dtypes of values for which the record allows a call like one of its examples: a condition,
/// an index or an offset keeps its own.
std::vector<DType> op_dtypes(const OpDef& op);

/// The ops that the decomposition of the first example at f32 calls, in order, each once; empty for
/// a primitive.
std::vector<std::string_view> op_steps(const OpDef& op);

/// `ops/<name>.md` for each op, and `ops.md`, the matrix that links them. Without `conformance` the
/// pages say nothing of it.
std::vector<DocPage> op_pages(OpSet ops, std::span<const DocTarget> targets,
                              const Conformance* conformance = nullptr);

/// Writes the pages into `folder`, making folders that are missing. Fails with `file-unwritable`.
Status write_op_docs(const std::string& folder, OpSet ops, std::span<const DocTarget> targets,
                     const Conformance* conformance = nullptr);

}  // namespace capra
