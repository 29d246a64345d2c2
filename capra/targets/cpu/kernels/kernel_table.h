// All kernels of one instruction set as a table of plain functions, and the choice of a table.
#pragma once

#include <span>

#include "capra/targets/cpu/isa/isa.h"
#include "capra/targets/cpu/kernels/attention.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "capra/targets/cpu/kernels/fma_peak.h"
#include "capra/targets/cpu/kernels/matmul.h"
#include "capra/targets/cpu/kernels/normalize.h"
#include "capra/targets/cpu/kernels/reduce.h"

namespace capra::kernels {

/// A section a family; a family's header holds its section, its .cc the function `fill` that sets
/// it.
struct KernelTable {
  Isa isa = Isa::Portable;

  MatmulKernels matmul;
  AttentionKernels attention;
  PeakKernels peak;
  ElementwiseKernels elementwise;
  ReduceKernels reduce;
  NormalizeKernels normalize;
};

/// The tables this machine runs, portable first, the fastest last.
std::span<const KernelTable* const> available_kernel_tables();
/// The table of `isa`, or null if this machine or this build has none.
const KernelTable* kernel_table(Isa isa);
/// The table in use: the fastest, or the one that the environment variable CAPRA_ISA names
/// (portable, avx2, avx512, neon). Chosen at the first call. A name that cannot be honoured is
/// ignored here; `isa_override_error` says why.
const KernelTable& kernels();
/// Null, or what is wrong with CAPRA_ISA, for the caller to report.
const char* isa_override_error();

}  // namespace capra::kernels
