// What outside judges are given: a module of many functions, their data, and in JSON which is
// which.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "capra/base/new_file.h"
#include "capra/io/json.h"
#include "capra/io/safetensors.h"
#include "capra/targets/stablehlo/iree_flags.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::testing {

class JudgedModule {
 public:
  /// Takes all functions; the public one is called `name`, and the private ones, of which many
  /// modules have the same, start with it.
  void add(stablehlo::Module module, const std::string& name) {
    for (stablehlo::Function& function : module.functions) {
      function.name = function.is_private ? name + "_" + function.name : name;
      for (stablehlo::Operation& operation : function.operations) {
        for (stablehlo::NamedAttribute& attribute : operation.attributes) {
          auto* symbol = std::get_if<stablehlo::Symbol>(&attribute.value);
          if (symbol != nullptr) symbol->name = name + "_" + symbol->name;
        }
      }
      module_.functions.push_back(std::move(function));
    }
  }
  void add_tensor(std::string name, Array value) {
    tensors_.emplace(std::move(name), std::move(value));
  }

  /// `stem`.mlir, .json and .safetensors.
  Status write(const std::string& stem, const Json& cases) const {
    CAPRA_TRY(write_file(stem + ".mlir", stablehlo::print_module(module_)));
    CAPRA_TRY(write_file(stem + ".json", cases.text(1)));
    CAPRA_TRY(write_safetensors(stem + ".safetensors", tensors_, {}));
    return {};
  }

 private:
  stablehlo::Module module_;
  std::map<std::string, Array> tensors_;
};

/// Makes the folder, with the compiler's options in `iree.flags`.
inline Status begin_judged_folder(const std::string& folder) {
  std::filesystem::create_directories(folder);
  return write_file(folder + "/iree.flags",
                    fmt::format("{}\n", fmt::join(stablehlo::iree_compile_flags(), "\n")));
}

}  // namespace capra::testing
