// The records that give a graph its form: what comes in, what goes out, and groups. They are in
// every op set.
#pragma once

#include <string>

#include "capra/ir/op_def.h"

namespace capra {

struct InputAttrs {
  std::string name;
  TensorType type;
  static constexpr auto fields() {
    return std::tuple{Field{"name", &InputAttrs::name, "what the caller binds"},
                      Field{"type", &InputAttrs::type, "dtype and shape"}};
  }
};
/// A value given at each run.
extern const OpDef kInput;

struct ParameterAttrs {
  std::string path;
  TensorType type;
  static constexpr auto fields() {
    return std::tuple{Field{"path", &ParameterAttrs::path, "path of the parameter in the model"},
                      Field{"type", &ParameterAttrs::type, "dtype and shape"}};
  }
};
/// A value of the model, the same at every run.
extern const OpDef kParameter;

struct OutputAttrs {
  std::string name;
  static constexpr auto fields() {
    return std::tuple{Field{"name", &OutputAttrs::name, "what the caller asks for"}};
  }
};
/// Marks its operand as a result of the graph. It has a place among the nodes.
extern const OpDef kOutput;

struct GroupAttrs {
  std::string label;
  static constexpr auto fields() {
    return std::tuple{Field{"label", &GroupAttrs::label, "what a target may run as one kernel"}};
  }
};
/// Several ops to be run as one; the node has a body whose inputs are the group's operands.
extern const OpDef kGroup;

}  // namespace capra
