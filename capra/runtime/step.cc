// Scratch memory, and the traffic of a step that states nothing else.
#include "capra/runtime/step.h"

namespace capra {

std::byte* Scratch::get(size_t bytes) {
  if (buffer_ == nullptr || buffer_->size() < bytes) {
    buffer_.reset();
    buffer_ = Buffer::allocate(bytes);
  }
  return buffer_->data();
}

Scratch& Scratch::inner() {
  if (inner_ == nullptr) inner_ = std::make_unique<Scratch>();
  return *inner_;
}

size_t Scratch::capacity() const {
  return (buffer_ == nullptr ? 0 : buffer_->size()) + (inner_ == nullptr ? 0 : inner_->capacity());
}

StepWork Step::work(const StepCall& call) const {
  StepWork work;
  work.bytes = static_cast<double>(call.result.byte_size());
  for (const View* operand : call.operands) {
    if (operand != nullptr) work.bytes += static_cast<double>(operand->byte_size());
  }
  return work;
}

}  // namespace capra
