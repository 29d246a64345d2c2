// The sink that computes at once, with a target's own kernels.
#pragma once

#include <memory>
#include <string_view>

#include "capra/base/thread_pool.h"
#include "capra/ir/parameters.h"
#include "capra/ir/tensor.h"
#include "capra/ops/op_table.h"
#include "capra/runtime/step.h"

namespace capra {

/// A context whose calls run the row of `table` for their op and types; an op without a row is
/// decomposed. `parameters` (may be null) must outlive it. A call throws `Error`: `op-not-legal`,
/// `parameter-missing`, or what the kernel found.
Context make_eager_context(std::string_view target, const OpTable& table, MakeStep make_step,
                           const Parameters* parameters, std::shared_ptr<ThreadPool> pool);

}  // namespace capra
