// One step a call: made, run and let go.
#include "capra/runtime/eager_sink.h"

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "capra/runtime/executable.h"

namespace capra {
namespace {

class EagerSink : public Sink {
 public:
  EagerSink(std::string_view target, const OpTable& table, MakeStep make_step,
            const Parameters* parameters, std::shared_ptr<ThreadPool> pool)
      : target_(target),
        table_(table),
        make_step_(make_step),
        parameters_(parameters),
        pool_(pool != nullptr ? std::move(pool) : std::make_shared<ThreadPool>(1)) {}

  Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
               TensorType result) override {
    const std::vector<const TensorType*> types = operand_types(operands);
    const OpRow* row = table_.find(op, types, attrs, result);
    if (row == nullptr && op.decompose != nullptr) return op.decompose(operands, attrs);
    if (row == nullptr) throw Error(op_not_legal(target_, table_, op, types, path()));
    check_static(result);
    check_rank(result);
    for (const TensorType* type : types) {
      if (type != nullptr) check_rank(*type);
    }
    const Node node{.op = &op, .operands = {}, .attrs = std::move(attrs), .type = result};
    const std::vector<const Array*> unknown(operands.size(), nullptr);
    const std::unique_ptr<Step> step = make_step_({.node = node,
                                                   .operands = types,
                                                   .constants = unknown,
                                                   .row = row,
                                                   .pool = *pool_,
                                                   .memory = memory_,
                                                   .reused = false})
                                           .value_or_throw();
    return run(self, *step, operands, result);
  }

  Tensor parameter(const Context& self, std::string_view path, TensorType type) override {
    if (parameters_ != nullptr) {
      const auto found = parameters_->find(path);
      if (found != parameters_->end() && found->second.type() == type) {
        return Tensor::of_data(self, found->second);
      }
      if (found != parameters_->end()) {
        throw Error(
            {"parameter-type",
             "the model takes " + type.text() + ", the data is " + found->second.type().text(),
             std::string(path)});
      }
    }
    throw Error({"parameter-missing", "there is no data for a parameter of the model",
                 std::string(path), "give data under this path"});
  }

  void enter_scope(std::string_view name) override { scopes_.emplace_back(name); }
  void leave_scope() override { scopes_.pop_back(); }

 private:
  Tensor run(const Context& self, const Step& step, std::span<const Tensor> operands,
             const TensorType& type) {
    std::vector<View> views;
    views.reserve(operands.size());
    std::vector<const View*> refs;
    for (const Tensor& operand : operands) {
      if (operand) views.push_back(View::of(operand.array()));
      refs.push_back(operand ? &views.back() : nullptr);
    }
    Array array;
    Status status;
    try {
      array = Array::zeros(type.dtype, type.shape.sizes());
      const View result = View::of(array);
      if (result.elements() != 0) {
        status =
            step.run({.operands = refs, .result = result, .pool = *pool_, .scratch = scratch_});
      }
    } catch (const std::bad_alloc&) {
      status = out_of_memory();
    }
    if (!status.ok()) {
      Diagnostic diagnostic = status.error();
      if (diagnostic.at.empty()) diagnostic.at = path();
      throw Error(std::move(diagnostic));
    }
    return Tensor::of_data(self, std::move(array));
  }

  void check_static(const TensorType& type) const {
    if (type.shape.is_static()) return;
    throw Error({"symbol-unbound", "the result " + type.text() + " has a dim without a value",
                 path(), "bind it by an operand whose shape has this dim"});
  }

  void check_rank(const TensorType& type) const {
    if (type.shape.rank() <= kMaxRunRank) return;
    throw Error({"rank-unsupported",
                 type.text() + " has more than " + std::to_string(kMaxRunRank) + " dims", path()});
  }

  std::string path() const {
    std::string text;
    for (const std::string& scope : scopes_) text += (text.empty() ? "" : ".") + scope;
    return text;
  }

  std::string target_;
  const OpTable& table_;
  MakeStep make_step_;
  const Parameters* parameters_;
  std::shared_ptr<ThreadPool> pool_;
  Scratch scratch_;
  StepMemory memory_;
  std::vector<std::string> scopes_;
};

}  // namespace

Context make_eager_context(std::string_view target, const OpTable& table, MakeStep make_step,
                           const Parameters* parameters, std::shared_ptr<ThreadPool> pool) {
  return Context(
      std::make_shared<EagerSink>(target, table, make_step, parameters, std::move(pool)));
}

}  // namespace capra
