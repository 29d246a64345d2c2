// The handle, and the one way every call takes to its sink.
#include "capra/ir/tensor.h"

#include <utility>
#include <vector>

#include "capra/ir/op_def.h"

namespace capra {

struct Tensor::Node {
  Context context;
  TensorType type;
  Array data;
  int32_t value = -1;
};

const TensorType& Tensor::type() const {
  CAPRA_CHECK(node_ != nullptr);
  return node_->type;
}

const Context& Tensor::context() const {
  CAPRA_CHECK(node_ != nullptr);
  return node_->context;
}

const Array& Tensor::array() const {
  CAPRA_CHECK(node_ != nullptr);
  if (!node_->data) {
    throw Error({"tensor-has-no-data",
                 "a traced tensor has a type and no numbers",
                 {},
                 "run the graph, or make the call in an eager context"});
  }
  return node_->data;
}

int32_t Tensor::value() const { return node_ == nullptr ? -1 : node_->value; }

Tensor Tensor::of_data(Context context, Array data) {
  Tensor tensor;
  TensorType type = data.type();
  tensor.node_ =
      std::make_shared<const Node>(Node{std::move(context), std::move(type), std::move(data), -1});
  return tensor;
}

Tensor Tensor::of_value(Context context, TensorType type, int32_t value) {
  Tensor tensor;
  tensor.node_ =
      std::make_shared<const Node>(Node{std::move(context), std::move(type), Array(), value});
  return tensor;
}

Tensor apply(const OpDef& op, std::span<const Tensor> operands, Attrs attrs, Context context) {
  // Absent optional operands at the end are the same as operands not given.
  while (!operands.empty() && !operands.back()) operands = operands.first(operands.size() - 1);
  for (const Tensor& operand : operands) {
    if (!operand) continue;
    if (!context) context = operand.context();
    if (context != operand.context()) {
      throw Error({"context-mixed",
                   std::string(op.name) + " was given tensors of two contexts",
                   {},
                   "make all tensors of one computation in one context"});
    }
  }
  TensorType result = infer_type(op, operand_types(operands), attrs).value_or_throw();
  CAPRA_CHECK(static_cast<bool>(context));  // an op without operands has its own call
  return context.sink().apply(context, op, operands, std::move(attrs), std::move(result));
}

}  // namespace capra
