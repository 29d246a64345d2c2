// The one handle of model code. A call on tensors goes to their sink, which computes now (eager) or
// records a node (trace).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "capra/ir/array.h"
#include "capra/ir/attrs.h"
#include "capra/ir/shape.h"

namespace capra {

struct OpDef;
class Sink;
class Tensor;

/// Where tensors live: shared by all tensors of one computation. Nothing is global or thread-local.
class Context {
 public:
  Context() = default;
  explicit Context(std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {}

  explicit operator bool() const { return sink_ != nullptr; }
  Sink& sink() const { return *sink_; }
  friend bool operator==(const Context&, const Context&) = default;

 private:
  std::shared_ptr<Sink> sink_;
};

/// A value of a known type. Copying shares; an empty tensor stands for an absent optional operand.
class Tensor {
 public:
  Tensor() = default;

  explicit operator bool() const { return node_ != nullptr; }
  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  const Context& context() const;

  /// The numbers, where the sink computes; throws `Error` (`tensor-has-no-data`) on a traced
  /// tensor.
  const Array& array() const;

  // For sinks.
  static Tensor of_data(Context context, Array data);
  static Tensor of_value(Context context, TensorType type, int32_t value);
  /// The number a trace sink gave this tensor; -1 for data.
  int32_t value() const;

 private:
  struct Node;
  std::shared_ptr<const Node> node_;
};

/// Receives every op call. Not safe for concurrent calls on one sink.
class Sink {
 public:
  virtual ~Sink() = default;

  /// `op` on operands that passed its shape rule; `result` is the inferred type.
  virtual Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor> operands,
                       Attrs attrs, TensorType result) = 0;
  /// A parameter of the model, known by its path (`encoder.layer.0.attention.query.weight`).
  virtual Tensor parameter(const Context& self, std::string_view path, TensorType type) = 0;

  /// Names the part of the model that the following calls belong to; scopes nest.
  virtual void enter_scope(std::string_view) {}
  virtual void leave_scope() {}
};

/// Enters a scope of the model for as long as it lives.
class Scope {
 public:
  Scope(const Context& context, std::string_view name) : context_(context) {
    context_.sink().enter_scope(name);
  }
  ~Scope() { context_.sink().leave_scope(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Context context_;
};

/// Calls `op`: checks the operands with the record's shape rule and hands the call to their sink.
/// `context` is needed only when there are no operands. Throws `Error`: `context-mixed` for
/// tensors of two contexts, `operand-count` for a missing operand, `shape-too-large` for a result
/// whose bytes 63 bits cannot count, else the record's diagnostic and what the sink refuses. Every
/// function of an op goes through here; its header names the record's codes.
Tensor apply(const OpDef& op, std::span<const Tensor> operands, Attrs attrs, Context context = {});

inline Tensor apply(const OpDef& op, std::initializer_list<Tensor> operands, Attrs attrs,
                    Context context = {}) {
  return apply(op, std::span<const Tensor>(operands.begin(), operands.size()), std::move(attrs),
               std::move(context));
}

}  // namespace capra
