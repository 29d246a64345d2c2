// Builds one table per instruction set and picks the one in use.
#include "capra/targets/cpu/kernels/kernel_table.h"

#include <cstdlib>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capra/targets/cpu/kernels/kernel_table.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/vec.h"
// clang-format on

// No HWY_BEFORE_NAMESPACE: building a table must run on any machine.
namespace capra::kernels {
namespace HWY_NAMESPACE {

void fill(MatmulKernels& table);
void fill(AttentionKernels& table);
void fill(PeakKernels& table);
void fill(ElementwiseKernels& table);
void fill(ReduceKernels& table);
void fill(NormalizeKernels& table);

const KernelTable& table() {
  static const KernelTable built = [] {
    KernelTable t;
    t.isa = kIsa;
    fill(t.matmul);
    fill(t.attention);
    fill(t.peak);
    fill(t.elementwise);
    fill(t.reduce);
    fill(t.normalize);
    return t;
  }();
  return built;
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels

#if HWY_ONCE
namespace capra::kernels {
namespace {

struct Available {
  const KernelTable* table[4];
  size_t count = 0;
  void add(const KernelTable& t) { table[count++] = &t; }
};

const Available& available() {
  static const Available all = [] {
    Available a;
#if HWY_TARGETS & HWY_SCALAR
    a.add(N_SCALAR::table());
#elif HWY_TARGETS & HWY_EMU128
    a.add(N_EMU128::table());
#endif
#if HWY_TARGETS & HWY_AVX2
    if (host_runs(Isa::Avx2)) a.add(N_AVX2::table());
#endif
#if HWY_TARGETS & HWY_AVX3
    if (host_runs(Isa::Avx512)) a.add(N_AVX3::table());
#endif
#if HWY_TARGETS & HWY_NEON
    if (host_runs(Isa::Neon)) a.add(N_NEON::table());
#endif
    return a;
  }();
  return all;
}

struct Choice {
  const KernelTable* table;
  const char* error;
};

const Choice& choice() {
  static const Choice made = [] {
    const Available& a = available();
    const KernelTable* fastest = a.table[a.count - 1];
    const char* name = std::getenv("CAPRA_ISA");
    if (name == nullptr || *name == '\0') return Choice{fastest, nullptr};
    const std::optional<Isa> wanted = parse_isa(name);
    if (!wanted) {
      return Choice{fastest, "CAPRA_ISA names none of portable, avx2, avx512, neon"};
    }
    if (const KernelTable* t = kernel_table(*wanted)) return Choice{t, nullptr};
    return Choice{fastest, "this machine does not run the instruction set that CAPRA_ISA names"};
  }();
  return made;
}

}  // namespace

std::span<const KernelTable* const> available_kernel_tables() {
  return {available().table, available().count};
}

const KernelTable* kernel_table(Isa isa) {
  for (const KernelTable* t : available_kernel_tables()) {
    if (t->isa == isa) return t;
  }
  return nullptr;
}

const KernelTable& kernels() { return *choice().table; }
const char* isa_override_error() { return choice().error; }

}  // namespace capra::kernels
#endif  // HWY_ONCE
