// Passes, legalizing last; then one operation after the other.
#include "capra/targets/stablehlo/emit.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "capra/base/nearest_name.h"
#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/constant.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/pipeline.h"
#include "capra/passes/policy/annotate_schedule.h"
#include "capra/passes/policy/prepare_parameters.h"
#include "capra/runtime/stages.h"
#include "capra/targets/stablehlo/irpa.h"
#include "capra/targets/stablehlo/ops.h"
#include "capra/targets/stablehlo/places/place.h"
#include "capra/targets/stablehlo/places/schedule_attribute.h"

namespace capra::stablehlo {
namespace {

// What the target keeps whole, and what is named beside it.
Result<std::vector<const OpDef*>> find_kept(const Target& target,
                                            const std::vector<std::string>& names) {
  std::vector<const OpDef*> kept;
  if (target.optimizer.granularity != nullptr) {
    const Granularity own = target.optimizer.granularity();
    kept.assign(own.kept.begin(), own.kept.end());
  }
  for (const std::string& name : names) {
    const auto known_op = std::ranges::find(all_ops(), name, &OpDef::name);
    const OpDef* op = known_op == all_ops().end() ? nullptr : *known_op;
    if (op == nullptr) {
      std::vector<std::string_view> known;
      for (const OpDef* one : all_ops()) known.push_back(one->name);
      const std::string_view nearest = nearest_name(name, known);
      return fail("op-unknown", "there is no op called '" + name + "' to keep", "--keep-fused",
                  nearest.empty() ? "'capra ops' lists them"
                                  : "did you mean '" + std::string(nearest) + "'?");
    }
    if (op == &kConstant) {
      return fail("option-invalid", "constant is data, which no composite holds", "--keep-fused",
                  "keep the op that uses it");
    }
    if (std::ranges::find(kept, op) == kept.end()) kept.push_back(op);
  }
  return kept;
}

// Attribute values as the dialect has them.
Attribute composite_attribute(const AttrValue& value) {
  struct Convert {
    Attribute operator()(bool one) const { return one; }
    Attribute operator()(int64_t one) const { return one; }
    Attribute operator()(double one) const { return one; }
    Attribute operator()(const std::string& one) const { return one; }
    Attribute operator()(DType one) const { return std::string(dtype_name(one)); }
    Attribute operator()(const std::vector<int64_t>& one) const { return one; }
    Attribute operator()(const Shape& one) const {
      if (one.is_static()) return one.sizes();
      return one.text();
    }
    Attribute operator()(const Array& one) const { return one; }
    Attribute operator()(const TensorType& one) const { return one.text(); }
  };
  return std::visit(Convert(), value);
}

// `-1` and `1e-12` as parts of a name: letters, digits and underscores.
std::string name_part(std::string_view text) {
  std::string part;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || (!part.empty() && part.back() != '_') || c == '-') {
      part += plain ? c : (c == '-' ? 'm' : '_');
    }
  }
  while (part.ends_with('_')) part.pop_back();
  return part;
}

// The extents and the pattern of equal symbols: what a body depends on.
std::string pattern_text(const TensorType& type, std::map<std::string, size_t>& symbols) {
  std::string text(dtype_name(type.dtype));
  for (const Dim& dim : type.shape.dims()) {
    text +=
        dim.is_static()
            ? " " + dim.text()
            : " s" + number_text(symbols.try_emplace(dim.symbol(), symbols.size()).first->second);
  }
  return text;
}

// What a target that derives may call legal: its rows of ops that have a form here.
std::vector<const OpRow*> rows_with_forms(const OpTable& own, const OpTable& forms) {
  const OpTable& chosen = &own == &kOpTable ? forms : own;
  std::vector<const OpRow*> rows;
  std::ranges::copy_if(chosen.rows(), std::back_inserter(rows),
                       [&](const OpRow* row) { return forms.names(*row->op); });
  return rows;
}

class Emitter {
 public:
  Emitter(const Target& target, const Parameters& parameters, const EmitOptions& options,
          std::span<const OpDef* const> kept)
      : target_(target),
        parameters_(parameters),
        options_(options),
        forms_(options.chlo ? kOpTable : kOpTableWithoutChlo),
        rows_(rows_with_forms(*target.table, forms_)),
        granularity_{kept} {}

  Result<Module> run(const Graph& graph) {
    CAPRA_TRY(check_program_passes(target_, kDialect));
    note_approximations(approximations(graph));
    PassContext context = context_with(granularity_);
    CAPRA_ASSIGN(Graph taped, run_tape_passes(target_, with_numbers_as_names(graph), context,
                                              options_.verify_each));
    take_report(std::move(context.report));
    CAPRA_ASSIGN(schedule_, schedule_attribute(taped));
    CAPRA_ASSIGN(const Graph legal, legalized(std::move(taped), granularity_));
    is_scheduled_ = true;
    if (!schedule_.empty()) module_.attributes.push_back({"skainet.schedule", schedule_});
    // A pass may have given the graph another name.
    taken_.insert(graph.name());
    try {
      module_.functions.push_back(function_of(legal, graph.name(), false));
    } catch (const Error& error) {
      return fail(error.diagnostic());
    }
    // The bodies follow in the order of their first use.
    for (Function& body : bodies_) module_.functions.push_back(std::move(body));
    return changed_by_target(std::move(module_));
  }

 private:
  // The entry stands first.
  Result<Module> changed_by_target(Module module) {
    const Entry entry = entry_of(module.functions.front());
    const auto verify = [&entry](const Module& now) { return verify_module(now, entry); };
    PassContext context = context_with(granularity_);
    const PassStage<Module, ProgramPass> stage{
        .name = "program",
        .subject = entry.name,
        .run = nullptr,
        .verify = verify,
        .size =
            [](const Module& now) {
              int64_t operations = 0;
              for (const Function& function : now.functions) {
                operations += static_cast<int64_t>(function.operations.size());
              }
              return operations;
            },
        .list_of = nullptr};
    try {
      CAPRA_ASSIGN(Module changed,
                   run_program_passes(target_, kDialect, std::move(module), stage, context,
                                      options_.verify_each, options_.program_passes));
      // What a pass broke is not printed.
      if (!context.report.changes.empty()) CAPRA_TRY(verify(changed));
      take_report(std::move(context.report));
      return changed;
    } catch (const Error& error) {
      return fail(error.diagnostic());
    }
  }

  PassContext context_with(Granularity granularity) const {
    return {.table = &table_,
            .granularity = granularity,
            .target = target_.name,
            .parameters = &parameters_};
  }

  void take_report(PassReport&& from) {
    note_approximations(approximations(from.rewrites));
    for (const auto& [path, into] : from.merged) {
      std::set<std::string>& equal = merged_[into];
      equal.insert(path);
      equal.merge(merged_[path]);
    }
    if (options_.report != nullptr) options_.report->append(std::move(from));
  }

  // Those of the graph that was given are on its nodes; of those made on the way the report tells,
  // because what becomes of the nodes is not known.
  void note_approximations(std::vector<Approximation> made) const {
    if (options_.approximations == nullptr) return;
    std::ranges::move(made, std::back_inserter(*options_.approximations));
  }

  // Hints that a pass of the target gives. Those of the first time are of whole ops; later the
  // decompositions are there, whose steps get hints too.
  Status take_schedule(const Pass& pass, const Graph& graph) {
    if (is_scheduled_ || !is_annotate_schedule(pass)) return {};
    is_scheduled_ = true;
    CAPRA_ASSIGN(schedule_, schedule_attribute(graph));
    return {};
  }

  Result<Graph> legalized(Graph graph, Granularity granularity) {
    PassContext context = context_with(granularity);
    Status scheduled;
    Result<Graph> legal = run_graph_passes(
        target_,
        inline_groups(std::move(graph),
                      [](const Graph& now, NodeId id) { return !is_prepared_parameter(now, id); }),
        context,
        {.verify_each = options_.verify_each,
         .after_change = [this, &scheduled](const Pass& pass, const Graph& now) {
           if (scheduled.ok()) scheduled = take_schedule(pass, now);
         }});
    if (legal.ok() && !scheduled.ok()) return fail(scheduled.error());
    take_report(std::move(context.report));
    return legal;
  }

  Function function_of(const Graph& graph, const std::string& name, bool is_private) {
    FunctionBuilder builder(name, is_private);
    std::vector<ValueId> values(static_cast<size_t>(graph.size()), -1);
    for (const NodeId id : graph.inputs()) {
      const Node& node = graph.node(id);
      values[static_cast<size_t>(id)] =
          builder.argument(node.attrs_as<InputAttrs>().name, node.type);
    }
    std::vector<ValueId> results;
    const std::vector<std::vector<NodeId>> users = graph.users();
    const auto is_prepared = [&](NodeId user) { return is_prepared_parameter(graph, user); };
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      if (node.op == &kInput) continue;
      const std::vector<NodeId>& readers = users[static_cast<size_t>(id)];
      const bool is_source = node.op == &kParameter && !readers.empty();
      if (is_source && std::ranges::all_of(readers, is_prepared)) continue;
      std::vector<ValueId> operands;
      operands.reserve(node.operands.size());
      for (const NodeId operand : node.operands) {
        operands.push_back(operand == kAbsent ? -1 : values[static_cast<size_t>(operand)]);
      }
      if (node.op == &kOutput) {
        results.push_back(operands[0]);
      } else if (parameter_of(graph, id) != kAbsent) {
        values[static_cast<size_t>(id)] = parameter(builder, graph, id);
      } else {
        values[static_cast<size_t>(id)] = call(builder, graph, id, operands, is_private);
      }
    }
    return std::move(builder).finish(results);
  }

  // A parameter, or a prepared one.
  ValueId parameter(FunctionBuilder& builder, const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    const Node& source = graph.node(parameter_of(graph, id));
    const std::string path = source.attrs_as<ParameterAttrs>().path;
    if (!source.type.shape.is_static()) {
      throw Error({"symbol-unbound", "parameter " + path + " is " + source.type.text(), path,
                   "give it a shape of numbers"});
    }
    Global global{.name = {}, .scope = options_.scope, .key = path, .type = node.type};
    std::string made;  // of the parameter, as keys say it
    if (node.op == &kGroup) {
      made = "@" + preparation_text(*node.body);
      global.key += made;
      global.preparation = std::make_shared<const Preparation>(Preparation{path, *node.body});
    }
    const int64_t bytes =
        *node.type.shape.elements() * static_cast<int64_t>(dtype_bytes(node.type.dtype));
    if (!options_.external_from || bytes < *options_.external_from) {
      return builder.constant(global_data(global, parameters_).value_or_throw());
    }
    take_key(global.key, path);
    for (const std::string& equal : merged_[path]) {
      global.equal_keys.push_back(equal + made);
      take_key(global.equal_keys.back(), equal);
    }
    const TensorType loaded = loaded_type(global);
    const Symbol name{global_name(std::move(global), path)};
    const ValueId bits = builder.append({"util.global.load", {}, loaded, {{"global", name}}});
    if (loaded == node.type) return bits;
    return builder.append({"stablehlo.bitcast_convert", {bits}, node.type});
  }

  std::string global_name(Global global, const std::string& path) {
    const auto same = std::ranges::find(module_.globals, global.key, &Global::key);
    if (same != module_.globals.end()) return same->name;
    global.name = unique_name(path);
    module_.globals.push_back(std::move(global));
    return module_.globals.back().name;
  }

  // Data are found by key alone: one key is one parameter's.
  void take_key(const std::string& key, const std::string& path) {
    const auto [owner, is_new] = key_owners_.emplace(key, path);
    if (is_new || owner->second == path) return;
    throw Error({"archive-key-taken", "the archive would have two data called " + key, path,
                 "give the parameter that is called so another path"});
  }

  ValueId call(FunctionBuilder& builder, const Graph& graph, NodeId id,
               const std::vector<ValueId>& operands, bool in_body) {
    const Node& node = graph.node(id);
    if (!in_body && granularity_.keeps(*node.op)) return composite(builder, graph, id, operands);
    std::vector<const TensorType*> types;
    types.reserve(node.operands.size());
    for (const NodeId operand : node.operands) {
      types.push_back(operand == kAbsent ? nullptr : &graph.node(operand).type);
    }
    const OpRow* row = forms_.find(*node.op, types, node.attrs, node.type);
    if (row == nullptr) {
      throw Error(op_not_legal(target_.name, forms_, *node.op, types, place_of(graph, id)));
    }
    ValueId result = -1;
    try {
      result =
          static_cast<const StablehloRow*>(row)->lower(builder, {operands, node.attrs, node.type});
    } catch (const Error& error) {
      throw Error(placed(error.diagnostic(), graph, id));
    }
    CAPRA_CHECK(builder.type(result) == node.type);
    if (options_.computed != nullptr) count(*node.op);
    return result;
  }

  void count(const OpDef& op) {
    std::vector<ComputedOp>& all = *options_.computed;
    const auto found = std::ranges::lower_bound(all, op.name, {},
                                                [](const ComputedOp& one) { return one.op->name; });
    if (found != all.end() && found->op == &op) {
      ++found->nodes;
    } else {
      all.insert(found, {&op, 1});
    }
  }

  ValueId composite(FunctionBuilder& builder, const Graph& graph, NodeId id,
                    const std::vector<ValueId>& operands) {
    const Node& node = graph.node(id);
    const OpDef& op = *node.op;
    check_dims_of_body(graph, id, reason_to_keep(op));
    const auto [name, version] = composite_name(op);
    Dictionary attributes;
    for (size_t i = 0; i < node.attrs.size(); ++i) {
      attributes.push_back(
          {std::string(op.attrs.fields[i].name), composite_attribute(node.attrs[i])});
    }
    std::vector<ValueId> present;
    std::vector<int64_t> absent;  // of those before the last one that is there
    std::vector<int64_t> missing;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] < 0) {
        missing.push_back(static_cast<int64_t>(i));
      } else {
        present.push_back(operands[i]);
        absent = missing;
      }
    }
    if (!absent.empty()) attributes.push_back({std::string(kAbsentOperands), std::move(absent)});
    const std::string body = body_of(graph, node, name);
    if (options_.kept != nullptr) {
      options_.kept->push_back({.node = node_label(graph, id),
                                .op = std::string(op.name),
                                .as = name + " " + number_text(version),
                                .body = body,
                                .reason = reason_to_keep(op)});
    }
    return builder.append({"stablehlo.composite",
                           std::move(present),
                           node.type,
                           {{"name", name},
                            {"composite_attributes", std::move(attributes)},
                            {"decomposition", Symbol{body}},
                            {"version", version}}});
  }

  std::string reason_to_keep(const OpDef& op) const {
    const auto own = target_.optimizer.granularity;
    if (own == nullptr || !own().keeps(op)) return "asked for by --keep-fused";
    return "granularity of " + std::string(target_.name);
  }

  // Functions and globals share one space of names.
  std::string unique_name(const std::string& name) {
    std::string unique = name;
    for (int64_t count = 2; !taken_.insert(unique).second; ++count) {
      unique = name + "_" + number_text(count);
    }
    return unique;
  }

  // The name of the function that decomposes such a node; made at its first use.
  std::string body_of(const Graph& graph, const Node& node, const std::string& composite_name) {
    const OpDef& op = *node.op;
    std::string name = name_part(composite_name);
    std::string key = composite_name;
    std::map<std::string, size_t> symbols;
    bool names_symbols = false;  // an attribute does, so the operands' names matter too
    for (size_t i = 0; i < node.attrs.size(); ++i) {
      const auto* shape = std::get_if<Shape>(&node.attrs[i]);
      names_symbols = names_symbols || (shape != nullptr && !shape->is_static());
      const std::string field(op.attrs.fields[i].name);
      key += "\n" + field + "=" + print_attr(node.attrs[i]);
      name += "_" + field + "_" + name_part(print_attr(node.attrs[i]));
    }
    for (const NodeId operand : node.operands) {
      if (operand == kAbsent) {
        key += "\n_";
        name += "_none";
        continue;
      }
      const TensorType& type = graph.node(operand).type;
      key += "\n" + (names_symbols ? type.text() : pattern_text(type, symbols));
      name += "_" + extents_text(type, "dyn");
    }
    const auto [found, added] = body_names_.try_emplace(key);
    if (!added) return found->second;
    const std::string unique = unique_name(name);
    found->second = unique;
    bodies_.push_back(body_function(graph, node, unique));
    return unique;
  }

  // The node's decomposition as a function of its operands.
  Function body_function(const Graph& graph, const Node& node, const std::string& name) {
    Graph call = graph_of_call(graph, node, name);
    Node& only = call.node(call.size() - 2);  // before the output
    only.path = node.path;
    only.name = node.name;
    const Graph legal = legalized(std::move(call), {}).value_or_throw();
    return function_of(legal, name, true);
  }

  const Target& target_;
  const Parameters& parameters_;
  const EmitOptions& options_;
  const OpTable& forms_;
  std::vector<const OpRow*> rows_;
  OpTable table_{rows_};
  Granularity granularity_;
  Module module_;
  Dictionary schedule_;
  bool is_scheduled_ = false;
  std::vector<Function> bodies_;
  std::map<std::string, std::string> body_names_;  ///< by op, attributes and types
  std::set<std::string> taken_;
  std::map<std::string, std::string> key_owners_;  ///< by key of the archive: the parameter's path
  std::map<std::string, std::set<std::string>> merged_;  ///< by path: those it is read for
};

}  // namespace

Result<Module> emit(const Graph& graph, const Parameters& parameters, const EmitOptions& options) {
  const Target target = resolved(*options.target);
  CAPRA_ASSIGN(const std::vector<const OpDef*> kept, find_kept(target, options.keep_fused));
  Result<Module> module = Emitter(target, parameters, options, kept).run(graph);
  if (module.ok() || options.chlo || module.error().code != "op-not-legal") return module;
  // Chlo is what is missing where that is not refused with it.
  EmitOptions with_chlo = options;
  with_chlo.chlo = true;
  with_chlo.report = nullptr;
  with_chlo.approximations = nullptr;
  with_chlo.kept = nullptr;
  with_chlo.computed = nullptr;
  const Result<Module> whole = Emitter(target, parameters, with_chlo, kept).run(graph);
  if (!whole.ok() && whole.error().message == module.error().message) return module;
  Diagnostic refusal = module.error();
  refusal.help = "leave out --no-chlo: the op is written with an operation of chlo";
  return fail(std::move(refusal));
}

}  // namespace capra::stablehlo
