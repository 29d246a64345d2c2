// Each call is either handed on, or decomposed into calls on the same sink.
#include "capra/runtime/narrowed_sink.h"

#include <string>
#include <utility>
#include <vector>

namespace capra {
namespace {

class NarrowedSink : public Sink {
 public:
  NarrowedSink(std::string_view target, const OpTable& table, Granularity granularity,
               Context inner)
      : target_(target), table_(table), granularity_(granularity), inner_(std::move(inner)) {}

  Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
               TensorType result) override {
    const std::vector<const TensorType*> types = operand_types(operands);
    if (takes(table_, granularity_, op, types, attrs, result)) {
      std::vector<Tensor> handed;
      for (const Tensor& operand : operands) {
        handed.push_back(operand ? Tensor::of_data(inner_, operand.array()) : Tensor());
      }
      const Tensor computed =
          inner_.sink().apply(inner_, op, handed, std::move(attrs), std::move(result));
      return Tensor::of_data(self, computed.array());
    }
    if (op.decompose != nullptr) return op.decompose(operands, attrs);
    std::string path;
    for (const std::string& scope : scopes_) path += (path.empty() ? "" : ".") + scope;
    throw Error(op_not_legal(target_, table_, op, types, std::move(path)));
  }

  Tensor parameter(const Context& self, std::string_view path, TensorType type) override {
    return Tensor::of_data(self, inner_.sink().parameter(inner_, path, std::move(type)).array());
  }

  void enter_scope(std::string_view name) override {
    scopes_.emplace_back(name);
    inner_.sink().enter_scope(name);
  }
  void leave_scope() override {
    scopes_.pop_back();
    inner_.sink().leave_scope();
  }

 private:
  std::string target_;
  const OpTable& table_;
  Granularity granularity_;
  Context inner_;
  std::vector<std::string> scopes_;
};

}  // namespace

Context make_narrowed_context(std::string_view target, const OpTable& table,
                              Granularity granularity, Context inner) {
  return Context(std::make_shared<NarrowedSink>(target, table, granularity, std::move(inner)));
}

}  // namespace capra
