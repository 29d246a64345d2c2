// Conversions around each op that computes in another dtype than its operands have; canonicalize
// takes those away that undo each other.
#include "capra/passes/policy/dtype_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "capra/ir/structural_ops.h"
#include "capra/ops/convert.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

constexpr std::string_view kName = "apply-dtype-policy";
constexpr std::string_view kPolicyNote = "dtypePolicy";
constexpr std::string_view kOption = "--dtype-policy";

/// Whether an op computes on operands: not the ops of a graph's form, not data, and not the op that
/// states a dtype itself.
bool computes(const OpDef& op) {
  return op.infer != nullptr && !op.operands.empty() && &op != &kOutput && &op != &kGroup &&
         &op != &kConvert;
}

Failure invalid(std::string message, std::string_view at) {
  return fail("dtype-policy-invalid", std::move(message), std::string(at),
              "write OP=DTYPE, SCOPE:OP=DTYPE or *=DTYPE with f64, f32, f16 or bf16");
}

Result<DType> float_dtype(const std::string& name, std::string_view at) {
  const std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || !is_float(*dtype)) return invalid("'" + name + "' is no float dtype", at);
  return *dtype;
}

bool contains(const std::string& scope, const std::string& path) {
  return scope.empty() || path == scope || path.starts_with(scope + ".");
}

bool applies(const DTypeRule& rule, const Node& node) {
  return (rule.op == nullptr || rule.op == node.op) && contains(rule.scope, node.path);
}

/// Whether everything that `a` is about is something that `b` is about.
bool is_within(const DTypeRule& a, const DTypeRule& b) {
  return (b.op == nullptr || a.op == b.op) && contains(b.scope, a.scope);
}

struct Wanted {
  DType dtype;
  std::string reason;
};

class Policy {
 public:
  Policy(const DTypePolicy& rules, const std::string& reason) : rules_(rules), reason_(reason) {}

  /// What is stated for a node, if anything is.
  Result<std::optional<Wanted>> wanted(const Node& node, const std::string& label) const {
    std::optional<Wanted> found;
    for (const Note& note : node.notes) {
      if (note.name != kPolicyNote) continue;
      const auto* text = std::get_if<std::string>(&note.value);
      CAPRA_ASSIGN(const DType dtype, float_dtype(text == nullptr ? "" : *text, label));
      if (!computes(*node.op)) {
        return invalid(std::string(node.op->name) + " computes on no floats", label);
      }
      if (found && found->dtype != dtype) {
        return contradiction(label, "its notes say " + std::string(dtype_name(found->dtype)) +
                                        " and " + std::string(dtype_name(dtype)));
      }
      found = Wanted{dtype, "asked for by its note dtypePolicy"};
    }
    if (found || !computes(*node.op)) return found;
    std::vector<const DTypeRule*> about;
    for (const DTypeRule& rule : rules_) {
      if (applies(rule, node)) about.push_back(&rule);
    }
    if (about.empty()) return found;
    const auto narrowest = std::ranges::find_if(about, [&](const DTypeRule* rule) {
      return std::ranges::all_of(about, [&](const DTypeRule* other) {
        return is_within(*rule, *other) || rule->dtype == other->dtype;
      });
    });
    if (narrowest == about.end()) {
      std::string texts;
      for (const DTypeRule* rule : about) {
        texts += (texts.empty() ? "" : " and ") + dtype_rule_text(*rule);
      }
      return contradiction(label, "no rule counts before the others: " + texts);
    }
    found = Wanted{(*narrowest)->dtype, reason_ + dtype_rule_text(**narrowest)};
    return found;
  }

 private:
  static Failure contradiction(const std::string& label, const std::string& message) {
    return fail("dtype-policy-contradictory", message, label,
                "state the dtype of these ops in this scope once");
  }

  const DTypePolicy& rules_;
  const std::string& reason_;
};

/// The float dtypes of what a node reads and makes, each once; reads only, where `results` is
/// false.
std::vector<DType> float_dtypes(const Graph& graph, const Node& node, bool results) {
  std::vector<DType> dtypes;
  const auto take = [&](DType dtype) {
    if (is_float(dtype) && std::ranges::find(dtypes, dtype) == dtypes.end())
      dtypes.push_back(dtype);
  };
  for (const NodeId operand : node.operands) {
    if (operand != kAbsent) take(graph.node(operand).type.dtype);
  }
  if (results) take(node.type.dtype);
  return dtypes;
}

class PolicyRun {
 public:
  PolicyRun(const Policy& policy, PassContext& context) : policy_(policy), context_(context) {}

  Result<Graph> run(const Graph& graph) {
    GraphRewriter rewriter(graph);
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      const std::string label = node_label(graph, id);
      CAPRA_ASSIGN(const std::optional<Wanted> wanted, policy_.wanted(node, label));
      if (node.body != nullptr) {
        CAPRA_ASSIGN(Graph body, run(*node.body));
        Node group = node;
        for (NodeId& operand : group.operands) operand = rewriter.mapped(operand);
        if (!(body == *node.body)) group.body = std::make_shared<const Graph>(std::move(body));
        rewriter.append_for(id, std::move(group));
        continue;
      }
      const std::vector<DType> read = float_dtypes(graph, node, false);
      if (!wanted || read.empty() || (read.size() == 1 && read[0] == wanted->dtype)) {
        rewriter.copy(id);
      } else {
        compute_in(rewriter, id, *wanted, label);
      }
    }
    return std::move(rewriter).finish();
  }

 private:
  void compute_in(GraphRewriter& rewriter, NodeId id, const Wanted& wanted,
                  const std::string& label) {
    const Graph& graph = rewriter.source();
    const Node& node = graph.node(id);
    NodeId computed = kAbsent;
    rewriter.splice_without_notes(id, [&] {
      std::vector<Tensor> operands;
      std::map<NodeId, Tensor> casts;  // of operands that stand at several places
      operands.reserve(node.operands.size());
      for (const NodeId operand : node.operands) {
        const Tensor given = rewriter.tensor(operand);
        const bool is_cast = given && is_float(given.dtype()) && given.dtype() != wanted.dtype;
        if (!is_cast) {
          operands.push_back(given);
          continue;
        }
        const auto [cast, is_new] = casts.try_emplace(operand);
        if (is_new) cast->second = convert(given, wanted.dtype);
        operands.push_back(cast->second);
      }
      const Tensor result = apply(*node.op, operands, node.attrs, rewriter.context());
      computed = result.value();
      return result.dtype() == node.type.dtype ? result : convert(result, node.type.dtype);
    });
    // The op keeps its name; a conversion of its result is a new value.
    rewriter.move_name(rewriter.mapped(id), computed);
    rewriter.keep_notes(id, computed);
    std::string from;
    bool narrows = false;
    for (const DType dtype : float_dtypes(graph, node, true)) {
      from += (from.empty() ? "" : ", ") + std::string(dtype_name(dtype));
      narrows = narrows || !holds(wanted.dtype, dtype);
    }
    const std::string to(dtype_name(wanted.dtype));
    const std::string op(node.op->name);
    const double error = narrows ? rounding_error(wanted.dtype) : 0;
    context_.report.rewrites.push_back(
        {.pass = std::string(kName),
         .rule = narrows ? "narrowed" : "widened",
         .node = label,
         .note = forms_note(op + " in " + from, op + " in " + to),
         .effect = narrows ? NumericEffect::Approximate : NumericEffect::Meaning,
         .reason = narrows ? wanted.reason : "",
         .max_rel_error = error});
    if (!narrows) return;
    const Note notes[] = {
        {"legalizedFrom", op + " in " + from}, {"maxRelError", error}, {"reason", wanted.reason}};
    rewriter.add_record(computed, notes);
    context_.report.lines.push_back(
        fmt::format("DTYPE_POLICY_NARROWED node={}: {} in {} -> in {} [{}] maxRelError={}", label,
                    op, from, to, wanted.reason, exponent_text(error)));
  }

  const Policy& policy_;
  PassContext& context_;
};

}  // namespace

double rounding_error(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 0x1p-53;
    case DType::F32:
      return 0x1p-24;
    case DType::F16:
      return 0x1p-11;
    default:
      return 0x1p-8;
  }
}

std::string dtype_rule_text(const DTypeRule& rule) {
  return (rule.scope.empty() ? "" : rule.scope + ":") +
         (rule.op == nullptr ? "*" : std::string(rule.op->name)) + "=" +
         std::string(dtype_name(rule.dtype));
}

Result<DTypePolicy> parse_dtype_policy(std::span<const std::string> texts, OpSet ops) {
  DTypePolicy policy;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) return invalid("'" + text + "' states no dtype", kOption);
    DTypeRule rule;
    CAPRA_ASSIGN(rule.dtype, float_dtype(text.substr(equals + 1), kOption));
    std::string name = text.substr(0, equals);
    if (const size_t colon = name.rfind(':'); colon != std::string::npos) {
      rule.scope = name.substr(0, colon);
      name = name.substr(colon + 1);
    }
    if (name != "*") {
      rule.op = find_op(ops, name);
      if (rule.op == nullptr) {
        return fail("op-unknown", "there is no op called '" + name + "'", std::string(kOption),
                    "'capra ops' lists them");
      }
      if (!computes(*rule.op)) return invalid(name + " computes on no floats", kOption);
    }
    for (const DTypeRule& other : policy) {
      if (other.op != rule.op || other.scope != rule.scope || other.dtype == rule.dtype) continue;
      return fail("dtype-policy-contradictory",
                  dtype_rule_text(other) + " and " + dtype_rule_text(rule) + " state two dtypes",
                  std::string(kOption), "state the dtype of these ops in this scope once");
    }
    policy.push_back(std::move(rule));
  }
  return policy;
}

Pass apply_dtype_policy(DTypePolicy policy, std::string reason) {
  return {kName,
          "Makes ops compute in the dtypes that a policy states, between conversions, and notes "
          "where that narrows.",
          NumericEffect::Approximate,
          [policy = std::move(policy), reason = std::move(reason)](
              const Graph& graph, PassContext& context) -> Result<Graph> {
            try {
              return PolicyRun(Policy(policy, reason), context).run(graph);
            } catch (const Error& error) {
              return fail(error.diagnostic());
            }
          }};
}

const Pass kApplyDTypePolicy = apply_dtype_policy({}, "");

}  // namespace capra
