// The record of the cpu, once with the chosen kernels and once for each instruction set.
#include "capra/targets/cpu/target.h"

#include <array>
#include <utility>
#include <vector>

#include "capra/runtime/eager_sink.h"
#include "capra/runtime/executor.h"
#include "capra/targets/cpu/ops.h"

namespace capra::cpu {
namespace {

constexpr std::string_view kName = "cpu";

const KernelTable& chosen() { return kernels::kernels(); }
template <kernels::Isa kIsa>
const KernelTable& fixed() {
  return *kernels::kernel_table(kIsa);
}

template <const KernelTable& (*kKernels)()>
Result<std::unique_ptr<Step>> make_step(const StepRequest& request) {
  return make_cpu_step(request, kKernels());
}

template <const KernelTable& (*kKernels)()>
Context eager(const Parameters* parameters, std::shared_ptr<ThreadPool> pool) {
  return make_eager_context(kName, kOpTable, make_step<kKernels>, parameters, std::move(pool));
}

template <const KernelTable& (*kKernels)()>
Result<std::unique_ptr<Executable>> compile(const Target&, const Graph& graph,
                                            const Parameters& parameters,
                                            const CompileOptions& options) {
  if (kKernels == chosen && kernels::isa_override_error() != nullptr) {
    return fail("instruction-set-unavailable", kernels::isa_override_error(), "CAPRA_ISA",
                "unset it, or name one that this machine runs");
  }
  const std::shared_ptr<ThreadPool> pool =
      options.pool != nullptr ? options.pool : std::make_shared<ThreadPool>(1);
  CAPRA_ASSIGN(Plan plan, make_plan({.graph = graph,
                                     .parameters = parameters,
                                     .table = kOpTable,
                                     .make_step = make_step<kKernels>,
                                     .pool = *pool,
                                     .target = kName}));
  return make_planned_executable(graph, std::move(plan));
}

Availability availability(const ToolOptions&) {
  Availability here;
  here.detail = std::string("instruction set ") + kernels::isa_name(chosen().isa);
  if (const char* error = kernels::isa_override_error(); error != nullptr) {
    here.needs = {"CAPRA_ISA that this machine runs"};
    here.missing = {error};
  }
  return here;
}

template <const KernelTable& (*kKernels)()>
constexpr Target record() {
  return {.name = kName,
          .summary = "Runs on this machine's processor, f32 in a defined order of operations.",
          .table = &kOpTable,
          .optimizer = {.dag_passes = cpu_passes},
          .availability = availability,
          .eager = eager<kKernels>,
          .compile = compile<kKernels>};
}

constinit const Target kPortable = record<fixed<kernels::Isa::Portable>>();
constinit const Target kAvx2 = record<fixed<kernels::Isa::Avx2>>();
constinit const Target kAvx512 = record<fixed<kernels::Isa::Avx512>>();
constinit const Target kNeon = record<fixed<kernels::Isa::Neon>>();

}  // namespace

constinit const Target kTarget = record<chosen>();

const Target* target_for(kernels::Isa isa) {
  if (kernels::kernel_table(isa) == nullptr) return nullptr;
  switch (isa) {
    case kernels::Isa::Portable:
      return &kPortable;
    case kernels::Isa::Avx2:
      return &kAvx2;
    case kernels::Isa::Avx512:
      return &kAvx512;
    case kernels::Isa::Neon:
      return &kNeon;
  }
  return nullptr;
}

}  // namespace capra::cpu
