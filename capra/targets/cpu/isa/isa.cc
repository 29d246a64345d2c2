// Names of the instruction sets, and detection by the compiler's run-time library.
#include "capra/targets/cpu/isa/isa.h"

namespace capra::kernels {

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::Portable:
      return "portable";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
    case Isa::Neon:
      return "neon";
  }
  return "unknown";
}

std::optional<Isa> parse_isa(std::string_view name) {
  for (const Isa isa : {Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Neon}) {
    if (name == isa_name(isa)) return isa;
  }
  return std::nullopt;
}

bool host_runs(Isa isa) {
  switch (isa) {
    case Isa::Portable:
      return true;
#if defined(__x86_64__)
    // These ask the processor and whether the system saves the wide registers.
    case Isa::Avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case Isa::Avx512:
      return host_runs(Isa::Avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
#elif defined(__aarch64__)
    case Isa::Neon:
      return true;
#endif
    default:
      return false;
  }
}

}  // namespace capra::kernels
