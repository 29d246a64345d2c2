// The options with which programs are tested.
#include "capra/targets/stablehlo/iree_flags.h"

namespace capra::stablehlo {

std::vector<std::string> iree_compile_flags() {
  return {
      "--iree-input-type=stablehlo",
      // Else f64 is computed in f32, and the function's type is changed.
      "--iree-input-demote-f64-to-f32=false",
      "--iree-hal-target-device=local",
      "--iree-hal-local-target-device-backends=llvm-cpu",
      "--iree-llvmcpu-target-cpu=host",
      "--iree-opt-level=O2",
      // In 3.13 it gives wrong products of a vector and its transpose, and rows of unknown size on
      // the stack; encoders run no slower without it.
      "--iree-dispatch-creation-enable-aggressive-fusion=false",
  };
}

}  // namespace capra::stablehlo
