// The target that writes StableHLO programs, and passes on them.
#pragma once

#include <string_view>

#include "capra/runtime/target.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

extern const Target kTarget;

/// The dialect of the module that program passes are given.
inline constexpr std::string_view kDialect = "stablehlo";

/// A program pass of targets that derive from `kTarget`; it changes the module in place.
template <Status (*kRun)(Module& module, PassContext& context)>
constexpr ProgramPass program_pass(std::string_view name, std::string_view summary,
                                   NumericEffect effect = NumericEffect::Exact) {
  return {.name = name,
          .summary = summary,
          .effect = effect,
          .dialect = kDialect,
          .run = [](void* program, PassContext& context) {
            return kRun(*static_cast<Module*>(program), context);
          }};
}

}  // namespace capra::stablehlo
