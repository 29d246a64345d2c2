// The options with which programs are tested.
#include "capra/targets/stablehlo/iree_flags.h"

namespace capra::stablehlo {

std::string_view iree_compile_flags() {
  return "--iree-input-type=stablehlo\n"
         // Else f64 is computed in f32, and the function's type is changed.
         "--iree-input-demote-f64-to-f32=false\n"
         "--iree-hal-target-device=local\n"
         "--iree-hal-local-target-device-backends=llvm-cpu\n"
         "--iree-llvmcpu-target-cpu=host\n"
         "--iree-opt-level=O2\n"
         // A lookup of embeddings fused with the norm after it needs 70 KB of a thread's 128.
         "--iree-llvmcpu-stack-allocation-limit=131072\n";
}

}  // namespace capra::stablehlo
