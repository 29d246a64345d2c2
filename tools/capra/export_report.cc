// The record of a written program as one JSON document.
#include "tools/capra/export_report.h"

#include <algorithm>

#include "capra/base/version.h"
#include "capra/ir/structural_ops.h"
#include "tools/capra/pass_report.h"

namespace capra::driver {
namespace {

Json port_json(const std::string& name, const TensorType& type) {
  Json row = Json::object();
  row.set("name", name).set("type", type.text());
  return row;
}

template <class Attrs>
Json ports_json(const Graph& graph, const std::vector<NodeId>& ids) {
  Json rows = Json::array();
  for (const NodeId id : ids) {
    rows.push(port_json(graph.node(id).attrs_as<Attrs>().name, graph.node(id).type));
  }
  return rows;
}

Json strings_json(const std::vector<std::string>& strings) {
  Json rows = Json::array();
  for (const std::string& one : strings) rows.push(one);
  return rows;
}

Json artifacts_json(const NewFolder& folder) {
  Json rows = Json::array();
  for (const FolderFile& file : folder.files()) {
    Json row = Json::object();
    row.set("file", file.name).set("bytes", file.digest.bytes);
    rows.push(row.set("sha256", file.digest.sha256));
  }
  return rows;
}

Json kept_json(const std::vector<KeptOp>& kept) {
  Json rows = Json::array();
  for (const KeptOp& one : kept) {
    Json row = Json::object();
    row.set("node", one.node).set("op", one.op).set("as", one.as);
    rows.push(row.set("body", one.body).set("reason", one.reason));
  }
  return rows;
}

// Each body once, in the order of the program.
Json composites_json(const std::vector<KeptOp>& kept) {
  std::vector<std::string> bodies;
  for (const KeptOp& one : kept) {
    if (std::ranges::find(bodies, one.body) == bodies.end()) bodies.push_back(one.body);
  }
  return strings_json(bodies);
}

Json approximations_json(const std::vector<Approximation>& approximations) {
  Json rows = Json::array();
  for (const Approximation& one : approximations) {
    Json row = Json::object();
    row.set("node", one.node).set("from", one.legalized_from).set("to", one.legalized_to);
    row.set("reason", one.reason).set("max_abs_error", one.max_abs_error);
    if (one.max_rel_error > 0) row.set("max_rel_error", one.max_rel_error);
    rows.push(std::move(row));
  }
  return rows;
}

}  // namespace

Json export_report(const Target& target, const Graph& graph, const WrittenProgram& written,
                   const NewFolder& folder) {
  Json parameters = Json::array();
  for (const Port& one : written.parameters) parameters.push(port_json(one.name, one.type));
  Json document = Json::object();
  document.set("capra", version()).set("target", target.name);
  document.set("function", graph.name());
  document.set("inputs", ports_json<InputAttrs>(graph, graph.inputs()));
  document.set("outputs", ports_json<OutputAttrs>(graph, graph.outputs()));
  document.set("parameters", std::move(parameters));
  document.set("composites", composites_json(written.kept));
  document.set("kept_fused", kept_json(written.kept));
  document.set("approximations", approximations_json(written.approximations));
  document.set("passes", changes_json(written.passes.changes));
  document.set("rewrites", rewrites_json(written.passes.rewrites));
  document.set("flags", strings_json(written.flags)).set("run", strings_json(written.run));
  document.set("archive", written.archive.empty() ? Json() : Json(written.archive));
  document.set("artifacts", artifacts_json(folder));
  return document;
}

}  // namespace capra::driver
