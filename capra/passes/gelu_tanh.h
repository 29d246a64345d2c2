// The tanh form in the place of exact GELU: an approximation that somebody asked for.
#pragma once

#include <string>

#include "capra/passes/pass.h"

namespace capra {

/// A pass that turns gelu(approximate=false) into gelu(approximate=true), notes on the node
/// `legalizedFrom`, `maxAbsError` and `reason`, and reports one line a node. A bare erf stays: it
/// has no cheap substitute.
Pass gelu_tanh_legalization(std::string reason);

/// The same with the reason of the flag `--approximate gelu=tanh`.
extern const Pass kGeluTanh;

/// The largest difference of the two forms over all x, found numerically and rounded up to two
/// digits.
double gelu_tanh_max_abs_error();

/// A number as the recorded line spells it: `4.8E-4`.
std::string exponent_text(double value);

}  // namespace capra
