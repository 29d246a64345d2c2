// Both GELU forms out of primitives. Everything around one erf, erfc, tanh or sigmoid is read as
// P(x) + Q(x) f(U(x)) with polynomials P, Q and U, so that every spelling of the same real function
// is recognized, and no other function is.
#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <optional>

#include "capra/ops/add.h"
#include "capra/ops/div.h"
#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/gelu.h"
#include "capra/ops/mul.h"
#include "capra/ops/neg.h"
#include "capra/ops/sigmoid.h"
#include "capra/ops/sub.h"
#include "capra/ops/tanh.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"

namespace capra {
namespace {

constexpr size_t kDegrees = 4;  // x^0 to x^3: no form has a higher power
constexpr size_t kMaxNodes = 24;

using Polynomial = std::array<double, kDegrees>;

Polynomial sum_of(const Polynomial& a, const Polynomial& b, double sign) {
  Polynomial sum{};
  for (size_t i = 0; i < kDegrees; ++i) sum[i] = a[i] + sign * b[i];
  return sum;
}

std::optional<Polynomial> product_of(const Polynomial& a, const Polynomial& b) {
  Polynomial product{};
  for (size_t i = 0; i < kDegrees; ++i) {
    for (size_t j = 0; j < kDegrees; ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= kDegrees) return std::nullopt;
      product[i + j] += a[i] * b[j];
    }
  }
  return product;
}

bool is_zero(const Polynomial& polynomial) { return polynomial == Polynomial{}; }

bool is_like(DType dtype, const Polynomial& found, const Polynomial& wanted) {
  for (size_t i = 0; i < kDegrees; ++i) {
    if (!is_number(dtype, found[i], wanted[i])) return false;
  }
  return true;
}

/// P(x) + Q(x) f.
struct Form {
  Polynomial p{};
  Polynomial q{};
};

/// Reads nodes as forms in one x and one f.
class Reader {
 public:
  Reader(const Graph& graph, NodeId x, NodeId f) : graph_(graph), x_(x), f_(f) {}

  std::optional<Form> read(NodeId id) {
    if (id == x_) return Form{{0, 1, 0, 0}, {}};
    if (const std::optional<double> number = splat(graph_, id)) return Form{{*number, 0, 0, 0}, {}};
    if (graph_.node(id).type != graph_.node(x_).type) return std::nullopt;
    if (const auto known = forms_.find(id); known != forms_.end()) return known->second;
    if (forms_.size() > kMaxNodes) return std::nullopt;
    // Known, without a form, before its operands are read: the limit bounds the depth too.
    forms_.emplace(id, std::nullopt);
    const std::optional<Form> form = id == f_ ? Form{{}, {1, 0, 0, 0}} : combine(id);
    forms_[id] = form;
    return form;
  }

  /// The nodes that were read, x and constants apart.
  std::vector<NodeId> inside() const {
    std::vector<NodeId> ids;
    ids.reserve(forms_.size());
    for (const auto& [id, form] : forms_) ids.push_back(id);
    return ids;
  }

 private:
  std::optional<Form> combine(NodeId id) {
    const OpDef* op = graph_.node(id).op;
    if (op == &kNeg) {
      const std::optional<Form> a = read(operand(graph_, id, 0));
      if (!a) return std::nullopt;
      return Form{sum_of({}, a->p, -1), sum_of({}, a->q, -1)};
    }
    if (op != &kAdd && op != &kSub && op != &kMul && op != &kDiv) return std::nullopt;
    const std::optional<Form> a = read(operand(graph_, id, 0));
    const std::optional<Form> b = read(operand(graph_, id, 1));
    if (!a || !b) return std::nullopt;
    if (op == &kMul) return multiply(*a, *b);
    if (op == &kDiv) return divide(*a, *b);
    const double sign = op == &kAdd ? 1 : -1;
    return Form{sum_of(a->p, b->p, sign), sum_of(a->q, b->q, sign)};
  }

  static std::optional<Form> multiply(const Form& a, const Form& b) {
    if (!is_zero(a.q) && !is_zero(b.q)) return std::nullopt;
    const std::optional<Polynomial> p = product_of(a.p, b.p);
    const std::optional<Polynomial> q = is_zero(a.q) ? product_of(a.p, b.q) : product_of(a.q, b.p);
    if (!p || !q) return std::nullopt;
    return Form{*p, *q};
  }

  /// Only a number divides.
  static std::optional<Form> divide(const Form& a, const Form& b) {
    if (!is_zero(b.q) || b.p[0] == 0 || b.p != Polynomial{b.p[0]}) return std::nullopt;
    return multiply(a, Form{{1 / b.p[0]}, {}});
  }

  const Graph& graph_;
  NodeId x_;
  NodeId f_;
  std::map<NodeId, std::optional<Form>> forms_;
};

bool is_arithmetic(const OpDef* op) {
  return op == &kAdd || op == &kSub || op == &kMul || op == &kDiv || op == &kNeg;
}

bool is_curve(const OpDef* op) {
  return op == &kErf || op == &kErfc || op == &kTanh || op == &kSigmoid;
}

/// Nodes at `from` and below, through arithmetic only, latest first; other nodes end a way.
std::vector<NodeId> below(const Graph& graph, NodeId from) {
  std::vector<NodeId> found{from};
  for (size_t i = 0; i < found.size() && found.size() <= kMaxNodes; ++i) {
    const Node& node = graph.node(found[i]);
    if (!is_arithmetic(node.op)) continue;
    for (const NodeId operand : node.operands) {
      if (std::ranges::find(found, operand) == found.end()) found.push_back(operand);
    }
  }
  std::ranges::sort(found, std::greater<>());
  return found;
}

/// What must stand around f, and in it, for the whole to be GELU.
struct Spelling {
  const OpDef* f = nullptr;
  bool approximate = false;
  Polynomial argument{};
  Polynomial p{};
  Polynomial q{};
};

constexpr double kInvSqrt2 = 0.5 * std::numbers::sqrt2;
constexpr double kSqrt2OverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kCubic = 0.044715 * kSqrt2OverPi;

constexpr Spelling kSpellings[] = {
    // x / 2 + x / 2 erf(x / sqrt 2), and by the odd symmetry of erf
    {&kErf, false, {0, kInvSqrt2}, {0, 0.5}, {0, 0.5}},
    {&kErf, false, {0, -kInvSqrt2}, {0, 0.5}, {0, -0.5}},
    // x / 2 erfc(-x / sqrt 2) = x - x / 2 erfc(x / sqrt 2)
    {&kErfc, false, {0, -kInvSqrt2}, {}, {0, 0.5}},
    {&kErfc, false, {0, kInvSqrt2}, {0, 1}, {0, -0.5}},
    // x / 2 + x / 2 tanh(sqrt(2 / pi) (x + 0.044715 x^3)) = x sigmoid of twice that
    {&kTanh, true, {0, kSqrt2OverPi, 0, kCubic}, {0, 0.5}, {0, 0.5}},
    {&kSigmoid, true, {0, 2 * kSqrt2OverPi, 0, 2 * kCubic}, {}, {0, 1}},
};

/// The spelling that `root` is, in x and f, if nobody observes what is inside.
const Spelling* match(const GraphRewriter& rewriter, NodeId root, NodeId f, NodeId x) {
  const Graph& graph = rewriter.source();
  const DType dtype = graph.node(x).type.dtype;
  if (graph.node(x).type != graph.node(root).type || splat(graph, x)) return nullptr;
  Reader reader(graph, x, f);
  Reader argument_reader(graph, x, kAbsent);
  const std::optional<Form> form = reader.read(root);
  const std::optional<Form> argument = argument_reader.read(operand(graph, f, 0));
  if (!form || !argument || is_zero(form->q)) return nullptr;
  for (const Spelling& spelling : kSpellings) {
    if (spelling.f != graph.node(f).op || !is_like(dtype, argument->p, spelling.argument)) continue;
    if (!is_like(dtype, form->p, spelling.p) || !is_like(dtype, form->q, spelling.q)) continue;
    std::vector<NodeId> inside = reader.inside();
    for (const NodeId id : argument_reader.inside()) inside.push_back(id);
    if (unobserved(rewriter.all_users(), inside, root)) return &spelling;
  }
  return nullptr;
}

// P(x) + Q(x) f(U(x)) = gelu(x)
bool gelu_in_primitives(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_arithmetic(graph.node(root).op) || !is_float(graph.node(root).type.dtype)) return false;
  for (const NodeId f : below(graph, root)) {
    if (!is_curve(graph.node(f).op)) continue;
    for (const NodeId x : below(graph, operand(graph, f, 0))) {
      const Spelling* spelling = match(rewriter, root, f, x);
      if (spelling == nullptr) continue;
      const bool approximate = spelling->approximate;
      rewriter.splice(root, [&] { return gelu(rewriter.tensor(x), {.approximate = approximate}); });
      return true;
    }
  }
  return false;
}

constexpr Rule kRules[] = {{"gelu-in-primitives", gelu_in_primitives}};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kRaiseGelu.name, kRules);
}

}  // namespace

const Pass kRaiseGelu{"raise-gelu", "Recognizes exact and tanh GELU spelled in primitives.",
                      NumericEffect::Meaning, run};

}  // namespace capra
