// Names of the instruction sets and the choice of a kernel table.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "capra/targets/cpu/kernels/kernel_table.h"

namespace capra::kernels {
namespace {

TEST(Isa, NamesReadBack) {
  for (const Isa isa : {Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Neon}) {
    EXPECT_EQ(parse_isa(isa_name(isa)), isa);
  }
  for (const char* other : {"", "AVX2", "avx", "avx5120", "sse4", "portable "}) {
    EXPECT_FALSE(parse_isa(other).has_value()) << other;
  }
}

TEST(KernelTables, EachIsRunByThisMachineAndFoundByName) {
  const auto tables = available_kernel_tables();
  ASSERT_FALSE(tables.empty());
  for (const KernelTable* table : tables) {
    EXPECT_TRUE(host_runs(table->isa));
    EXPECT_EQ(kernel_table(table->isa), table);
    EXPECT_NE(table->matmul.f32, nullptr);
    EXPECT_NE(table->attention.f32, nullptr);
    EXPECT_GT(measure_fma_peak(table->isa, 0.001), 0.0) << isa_name(table->isa);
  }
#if defined(__x86_64__)
  EXPECT_EQ(tables.front()->isa, Isa::Portable);
  EXPECT_EQ(kernel_table(Isa::Neon), nullptr);
  EXPECT_EQ(measure_fma_peak(Isa::Neon, 0.001), 0.0);
#endif
}

// kernels() chooses once a process, so each choice is made by a process of its own.
int choice_as_exit_code(const char* name) {
  setenv("CAPRA_ISA", name, 1);
  const int chosen = static_cast<int>(kernels().isa);
  return chosen + (isa_override_error() != nullptr ? 16 : 0);
}

TEST(KernelTablesDeathTest, TheEnvironmentChooses) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const KernelTable* table : available_kernel_tables()) {
    EXPECT_EXIT(std::_Exit(choice_as_exit_code(isa_name(table->isa))),
                testing::ExitedWithCode(static_cast<int>(table->isa)), "");
  }
  const int fastest = static_cast<int>(available_kernel_tables().back()->isa);
  EXPECT_EXIT(std::_Exit(choice_as_exit_code("")), testing::ExitedWithCode(fastest), "");
  EXPECT_EXIT(std::_Exit(choice_as_exit_code("sse9")), testing::ExitedWithCode(fastest + 16), "");
#if defined(__x86_64__)
  EXPECT_EXIT(std::_Exit(choice_as_exit_code("neon")), testing::ExitedWithCode(fastest + 16), "");
#endif
}

}  // namespace
}  // namespace capra::kernels
