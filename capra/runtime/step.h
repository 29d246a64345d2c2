// One thing a plan executes: an op or a fused group, prepared once and run many times.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "capra/base/result.h"
#include "capra/base/thread_pool.h"
#include "capra/ir/graph.h"
#include "capra/ops/op_table.h"
#include "capra/runtime/view.h"

namespace capra {

/// Memory that only grows; a step uses it during its own run and leaves nothing in it.
class Scratch {
 public:
  /// At least `bytes` bytes of any content, aligned to 64.
  std::byte* get(size_t bytes);
  /// Another one, for a step that runs within a step.
  Scratch& inner();
  size_t capacity() const;

 private:
  std::shared_ptr<Buffer> buffer_;
  std::unique_ptr<Scratch> inner_;
};

/// Memory that steps keep for good, such as packed weights: cut from large blocks, so that it lies
/// in few pages.
class StepMemory {
 public:
  /// `bytes` bytes of zeros, aligned to 64. The block lives as long as any part of it.
  std::shared_ptr<Buffer> get(size_t bytes);

 private:
  std::shared_ptr<Buffer> block_;
  size_t used_ = 0;
};

/// What a step is run with. The result's memory overlaps no operand but one it may overwrite.
struct StepCall {
  std::span<const View* const> operands;  ///< null where an optional operand is absent
  const View& result;                     ///< contiguous
  ThreadPool& pool;
  Scratch& scratch;
};

/// Arithmetic and memory traffic of one run, for reports. Only matmuls (attention's two among them)
/// count flops: 2 m n k.
struct StepWork {
  double flops = 0;
  double bytes = 0;
};

/// Prepared from a node's types, attributes and constant operands. Immutable: threads share it.
class Step {
 public:
  virtual ~Step() = default;
  /// Whether operand `index` may have strides other than row-major ones; its last stride is 1 then.
  virtual bool takes_strided(size_t /*index*/) const { return false; }
  /// Whether the result may lie where operand `index` lies, if both have the same type and are
  /// row-major and nothing else reads the operand any more.
  virtual bool may_overwrite(size_t /*index*/) const { return false; }
  /// Whether run reads operand `index`; false where it was taken up (packed) when the step was
  /// made.
  virtual bool reads(size_t /*index*/) const { return true; }
  /// Computes the result. Fails only for what types cannot say: `index-out-of-range`,
  /// `offsets-invalid`... Allocates nothing but scratch.
  virtual Status run(const StepCall& call) const = 0;
  virtual StepWork work(const StepCall& call) const;
};

/// What a step is made from.
struct StepRequest {
  const Node& node;   ///< its op, attributes, result type; a group's label and body
  TypeRefs operands;  ///< null where an optional operand is absent
  std::span<const Array* const> constants;  ///< the operands known now, null where not
  const OpRow* row = nullptr;               ///< the target's row; null for a group
  ThreadPool& pool;                         ///< for work done once, such as packing
  StepMemory& memory;                       ///< for what the step keeps
  /// False in eager calls: a constant is then used once and not worth packing.
  bool reused = true;
};

/// Makes the step of a node or group; a null step: the target has no kernel for this group, and its
/// body is run node by node. Fails with a named reason.
using MakeStep = Result<std::unique_ptr<Step>> (*)(const StepRequest& request);

}  // namespace capra
