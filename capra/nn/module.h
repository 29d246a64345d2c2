// What every module has: a path, under which its parameters are known.
#pragma once

#include <string>
#include <string_view>

#include "capra/ir/tensor.h"

namespace capra::nn {

/// A named part of a model. Its path (`encoder.layer.3.attention.query`) is stable: weights,
/// exported archives and diagnostics use it.
class Module {
 public:
  explicit Module(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// The path of a part of this module.
  std::string child(std::string_view name) const { return path_ + "." + std::string(name); }

 protected:
  /// The parameter `path().name` of the sink that `context` belongs to.
  Tensor parameter(const Context& context, std::string_view name, TensorType type) const {
    return context.sink().parameter(context, child(name), std::move(type));
  }

 private:
  std::string path_;
};

}  // namespace capra::nn
