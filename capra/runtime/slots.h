// Which values share memory.
#pragma once

#include "capra/runtime/plan.h"

namespace capra {

/// Finds the lives of the plan's values and gives those in slots their slot: values that live at
/// once never share one, except where a step may write its result over an operand that dies there.
void assign_slots(Plan& plan);

}  // namespace capra
