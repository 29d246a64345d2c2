// Compiled graphs and their runs as JSON: what `capra ga2 compile --json` prints. docs/ga2.md has
// the members.
#pragma once

#include <optional>

#include "capra/io/json.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {

/// A list of rows.
Json matrix_json(const Matrix<double>& matrix);
Json matrix_json(const Matrix<int32_t>& matrix);

Json listing_json(const Program& program);
Json requantizers_json(const Program& program);
/// Inputs, weights and outputs in external memory, by name.
Json external_json(const Program& program);
Json events_json(const Program& program);
/// `total`, `mm`, `dma`, `vec` and `n_inst`, as the chip counts.
Json counters_json(const Counters& counters);
/// The cycles of each kind of instruction that occurs.
Json cycles_by_mnemonic(const Program& program);
/// `ints` and `floats` of each output.
Json outputs_json(const Run& run);

/// Everything that the compiler decided. `without_reuse` is the same graph with every buffer in a
/// place of its own, or why there is none. What a run on the sample gives is null where there is no
/// sample. Fails as `run`.
Result<Json> compiled_json(const Program& program, const Result<Program>& without_reuse,
                           const std::optional<Sample>& test);

}  // namespace capra::ga2
