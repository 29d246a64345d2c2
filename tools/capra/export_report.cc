// The record of a written program as one JSON document; docs/report.schema.json is its form.
#include "tools/capra/export_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "capra/base/version.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/constant.h"
#include "capra/ops/op_docs.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"
#include "tools/capra/pass_report.h"

namespace capra::driver {
namespace {

constexpr int kReportVersion = 1;
constexpr std::string_view kRan = "ran";
constexpr std::string_view kNothingToDo = "nothing to do";

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

Json equal_json(const std::vector<EqualParameter>& equal) {
  Json rows = Json::array();
  for (const auto& [parameter, same_as] : equal) {
    rows.push(port_json(parameter.name, parameter.type).set("same_as", same_as));
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
    row.set("file", file.name).set("holds", file.holds).set("bytes", file.digest.bytes);
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

// --- stages --------------------------------------------------------------------------------------

Json stage_json(std::string_view name, std::string_view status, std::string detail,
                Json passes = Json::array()) {
  Json row = Json::object();
  row.set("name", name).set("status", status).set("detail", std::move(detail));
  return row.set("passes", std::move(passes));
}

// The way to the program, stage by stage, with what each pass changed.
class Stages {
 public:
  explicit Stages(const PassReport& report) : report_(report) {}

  void add(std::string_view name, std::string detail) {
    rows_.push(stage_json(name, kRan, std::move(detail)));
  }
  // Each run of a pass counts in the list that ran it: a pass may stand in several.
  template <class List>
  void add_passes(std::string_view name, const List& passes) {
    Json rows = Json::array();
    int64_t changes = 0;
    for (const auto* pass : passes) {
      const auto counted = [&](const auto& one) {
        return one.pass == pass->name && one.list == name;
      };
      const int64_t own = std::ranges::count_if(report_.changes, counted);
      Json row = Json::object();
      row.set("pass", pass->name).set("summary", pass->summary);
      row.set("effect", numeric_effect_name(pass->effect));
      row.set("changes", own);
      rows.push(row.set("rewrites", int64_t{std::ranges::count_if(report_.rewrites, counted)}));
      changes += own;
    }
    std::string detail;
    if (changes == 0) {
      detail = rows.items().empty() ? "the target has none" : "nothing was left to change";
    }
    rows_.push(stage_json(name, changes == 0 ? kNothingToDo : kRan, detail, std::move(rows)));
  }
  // Passes that are made of options are known by what they changed alone.
  void add_changes(std::string_view name, const PassReport& asked) {
    Json rows = Json::array();
    std::set<std::string_view> seen;
    for (const PassChange& change : asked.changes) {
      if (!seen.insert(change.pass).second) continue;
      const int64_t changes = std::ranges::count(asked.changes, change.pass, &PassChange::pass);
      Json row = Json::object();
      row.set("pass", change.pass).set("summary", "asked for by an option");
      row.set("effect", numeric_effect_name(change.effect));
      row.set("changes", changes);
      rows.push(row.set("rewrites",
                        int64_t{std::ranges::count(asked.rewrites, change.pass, &Rewrite::pass)}));
    }
    rows_.push(stage_json(name, kRan, "", std::move(rows)));
  }
  Json take_json() { return std::move(rows_); }

 private:
  const PassReport& report_;
  Json rows_ = Json::array();
};

template <class List>
List list_of(List (*hook)()) {
  return hook == nullptr ? List() : hook();
}

// In the order of docs/architecture.md.
Json stages_json(const ExportFacts& facts) {
  const TargetOptimizer hooks = resolved(facts.target).optimizer;
  Stages stages(facts.written.passes);
  stages.add("trace", fmt::format("{} nodes", facts.graph.size()));
  if (!facts.asked.changes.empty()) stages.add_changes(kAskedFor, facts.asked);
  stages.add_passes(kTapePasses, list_of(hooks.tape_passes));
  stages.add_passes(kCorePasses, core_passes_of(facts.target));
  std::vector<const Pass*> own;
  std::ranges::copy_if(list_of(hooks.dag_passes), std::back_inserter(own),
                       [](const Pass* pass) { return pass != &kLegalize; });
  stages.add_passes(kDagPasses, own);
  stages.add_passes(kLegalizing, std::array{&kLegalize});
  stages.add("emit", fmt::format("{} kept whole, {} parameters beside the program",
                                 facts.written.kept.size(), facts.written.parameters.size()));
  stages.add_passes(kProgramPasses, list_of(hooks.program_passes));
  stages.add("print", facts.folder.files().front().name);
  return stages.take_json();
}

// --- what the results may be off by --------------------------------------------------------------

OpBound bound_of(const OpDef& op, const OpTable* table) {
  return table == nullptr ? OpBound{&op, op.accuracy, {}} : table->bound(op);
}

// One row of rewrites_json with the effect and the bound: that of the op which is computed
// otherwise or made of other ops, or what the approximation states.
Json bounded_rewrite(const Rewrite& rewrite, const OpTable* table) {
  const NumericEffect effect = rewrite.effect.value_or(NumericEffect::Exact);
  double max_abs = rewrite.max_abs_error;
  const double max_rel = rewrite.max_rel_error;
  Accuracy of_op{.max_ulp = 0};
  CAPRA_CHECK(effect != NumericEffect::Approximate || max_abs > 0 || max_rel > 0);
  if (effect == NumericEffect::Meaning) {
    // `gelu(approximate=false)`, `softmax in f32`.
    const std::string_view form = forms_of(rewrite).before;
    if (const OpDef* op = find_op(all_ops(), form.substr(0, form.find_first_of("( ")))) {
      of_op = bound_of(*op, table).accuracy;
      max_abs = of_op.max_abs;
    }
  }
  Json row = rewrite_json(rewrite);
  row.set("effect", numeric_effect_name(effect));
  row.set("max_abs", max_abs).set("max_rel", max_rel).set("max_ulp", of_op.max_ulp);
  return row.set("max_ulp_per_term", of_op.max_ulp_per_term);
}

Json bounded_rewrites(const ExportFacts& facts, const OpTable* table) {
  Json rows = Json::array();
  for (const PassReport* report : {&facts.asked, &facts.written.passes}) {
    for (const Rewrite& rewrite : report->rewrites) {
      rows.push(bounded_rewrite(rewrite, table));
    }
  }
  return rows;
}

void count_ops(const Graph& graph,
               std::map<std::string_view, std::pair<const OpDef*, int64_t>>& counts) {
  for (const Node& node : graph.nodes()) {
    if (node.body != nullptr) {
      count_ops(*node.body, counts);
    } else if (node.op != &kInput && node.op != &kOutput && node.op != &kParameter &&
               node.op != &kConstant) {
      auto& [op, count] = counts[node.op->name];
      op = node.op;
      ++count;
    }
  }
}

Json budget_json(const ExportFacts& facts, const OpTable* table) {
  std::map<std::string_view, std::pair<const OpDef*, int64_t>> counts;
  count_ops(facts.graph, counts);
  // What decompositions are made of is in the program, where the model has no node of it.
  for (const ComputedOp& one : facts.written.computed) {
    if (one.op == &kConstant) continue;
    auto& [op, nodes] = counts[one.op->name];
    op = one.op;
    nodes = std::max(nodes, one.nodes);
  }
  Json rows = Json::array();
  for (const auto& [name, counted] : counts) {
    const auto& [op, nodes] = counted;
    const auto same = [wanted = name](const KeptOp& one) { return one.op == wanted; };
    const bool kept = std::ranges::any_of(facts.written.kept, same);
    const OpBound bound = bound_of(*op, table);
    Json row = Json::object();
    row.set("op", name).set("nodes", nodes);
    row.set("form", kept ? "kept" : op_support(*op, table));
    row.set("max_abs", bound.accuracy.max_abs).set("max_ulp", bound.accuracy.max_ulp);
    row.set("max_ulp_per_term", bound.accuracy.max_ulp_per_term);
    rows.push(row.set("note", bound.accuracy.note).set("reason", bound.reason));
  }
  Json budget = Json::object();
  return budget.set("ops", std::move(rows));
}

}  // namespace

Json measured_json(const std::vector<Measurement>& measured) {
  Json rows = Json::array();
  for (const Measurement& one : measured) {
    Json row = Json::object();
    row.set("what", one.what).set("value", one.value);
    rows.push(std::move(row));
  }
  return rows;
}

Json export_report(const ExportFacts& facts) {
  const OpTable* table = table_of(facts.target, {.without = facts.without});
  const WrittenProgram& written = facts.written;
  Json parameters = Json::array();
  for (const Port& one : written.parameters) parameters.push(port_json(one.name, one.type));
  Json document = Json::object();
  document.set("report", kReportVersion).set("capra", version()).set("model", facts.model);
  document.set("target", facts.target.name).set("function", facts.graph.name());
  document.set("inputs", ports_json<InputAttrs>(facts.graph, facts.graph.inputs()));
  document.set("outputs", ports_json<OutputAttrs>(facts.graph, facts.graph.outputs()));
  document.set("parameters", std::move(parameters));
  document.set("equal_parameters", equal_json(written.equal_parameters));
  std::vector<PassChange> changes = facts.asked.changes;
  changes.insert(changes.end(), written.passes.changes.begin(), written.passes.changes.end());
  document.set("stages", stages_json(facts)).set("passes", changes_json(changes));
  document.set("rewrites", bounded_rewrites(facts, table));
  document.set("approximations", approximations_json(written.approximations));
  if (!written.measured.empty()) document.set("measured", measured_json(written.measured));
  document.set("budget", budget_json(facts, table));
  document.set("kept_fused", kept_json(written.kept));
  document.set("composites", composites_json(written.kept));
  document.set("flags", strings_json(written.flags)).set("run", strings_json(written.run));
  document.set("archive", written.archive.empty() ? Json() : Json(written.archive));
  document.set("artifacts", artifacts_json(facts.folder));
  return document;
}

}  // namespace capra::driver
