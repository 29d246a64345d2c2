// Exact GELU to its tanh form, recorded on the node.
#include "capra/passes/gelu_tanh.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/gelu.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

constexpr std::string_view kName = "gelu-tanh";

double difference(double x) {
  const double exact = 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return std::abs(exact - 0.5 * x * (1.0 + std::tanh(inner)));
}

/// Golden-section search of the maximum in [low, high], where there is one.
double maximum_between(double low, double high) {
  const double ratio = std::numbers::phi - 1.0;
  while (high - low > 1e-9) {
    const double left = high - ratio * (high - low);
    const double right = low + ratio * (high - low);
    if (difference(left) < difference(right)) {
      low = left;
    } else {
      high = right;
    }
  }
  return difference(0.5 * (low + high));
}

double largest_difference() {
  // Both forms obey g(x) - g(-x) = x, so the difference is even; beyond 10 both are x or 0 within
  // 1e-20.
  constexpr double kStep = 1.0 / 64;
  double best = 0;
  for (double x = kStep; x < 10; x += kStep) {
    if (difference(x) >= difference(x - kStep) && difference(x) >= difference(x + kStep)) {
      best = std::max(best, maximum_between(x - kStep, x + kStep));
    }
  }
  return best;
}

/// The least number of two decimal digits that is not below `value` > 0.
double rounded_up(double value) {
  const auto exponent = static_cast<int64_t>(std::floor(std::log10(value))) - 1;
  const auto digits =
      static_cast<int64_t>(std::ceil(value * std::pow(10.0, static_cast<double>(-exponent))));
  return *parse_f64(number_text(digits) + "e" + number_text(exponent));
}

Graph legalize(const Graph& graph, const std::string& reason, PassContext& context) {
  GraphRewriter rewriter(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = graph.node(id);
    for (NodeId& operand : node.operands) operand = rewriter.mapped(operand);
    if (node.body != nullptr) {
      node.body = std::make_shared<const Graph>(legalize(*node.body, reason, context));
      rewriter.append_for(id, std::move(node));
      continue;
    }
    if (node.op != &kGelu || node.attrs_as<GeluAttrs>().approximate) {
      rewriter.copy(id);
      continue;
    }
    const double error = gelu_tanh_max_abs_error();
    const std::string label = node_label(graph, id);
    node.attrs = pack(GeluAttrs{.approximate = true});
    node.notes.push_back({"legalizedFrom", "gelu(approximate=false)"});
    node.notes.push_back({"maxAbsError", error});
    node.notes.push_back({"reason", reason});
    context.report.rewrites.push_back(
        {.pass = std::string(kName),
         .rule = "gelu-tanh",
         .node = label,
         .note = forms_note(form_text(graph.node(id)), form_text(node)),
         .reason = reason,
         .max_abs_error = error});
    context.report.lines.push_back(
        fmt::format("GELU_APPROX_LEGALIZED node={}: gelu(approximate=false) -> "
                    "gelu(approximate=true) [{}] maxAbsError={}",
                    label, reason, exponent_text(error)));
    rewriter.append_for(id, std::move(node));
  }
  return std::move(rewriter).finish();
}

}  // namespace

double gelu_tanh_max_abs_error() {
  static const double kError = rounded_up(largest_difference());
  return kError;
}

std::string exponent_text(double value) {
  int exponent = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  // Shortest digits first, then the point is moved: the digits are those of number_text.
  std::string digits;
  const std::string shortest = number_text(std::abs(value));
  for (const char c : shortest.substr(0, shortest.find('e'))) {
    if (c != '.' && (c != '0' || !digits.empty())) digits += c;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  if (digits.empty()) digits = "0";
  return (std::signbit(value) ? "-" : "") + digits.substr(0, 1) + "." +
         (digits.size() > 1 ? digits.substr(1) : "0") +
         (exponent == 0 ? "" : "E" + number_text(exponent));
}

Pass gelu_tanh_legalization(std::string reason) {
  return {kName, "Computes exact GELU by its tanh form and notes the error on the node.",
          NumericEffect::Approximate,
          [reason = std::move(reason)](const Graph& graph, PassContext& context) -> Result<Graph> {
            return legalize(graph, reason, context);
          }};
}

const Pass kGeluTanh = gelu_tanh_legalization("asked for by --approximate gelu=tanh");

}  // namespace capra
