// Values and attributes of a module.
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

const TensorType& Function::type(ValueId value) const {
  const auto position = static_cast<size_t>(value);
  return position < arguments.size() ? arguments[position].type
                                     : operations[position - arguments.size()].type;
}

ValueId Function::append(Operation operation) {
  operations.push_back(std::move(operation));
  return static_cast<ValueId>(arguments.size() + operations.size() - 1);
}

}  // namespace capra::stablehlo
