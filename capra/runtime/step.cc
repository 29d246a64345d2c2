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

std::shared_ptr<Buffer> StepMemory::get(size_t bytes) {
  constexpr size_t kBlock = size_t{32} << 20;
  const size_t rounded = (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
  if (rounded > kBlock / 4) return Buffer::allocate(rounded);
  if (block_ == nullptr || block_->size() - used_ < rounded) {
    block_ = Buffer::allocate(kBlock);
    used_ = 0;
  }
  std::byte* data = block_->data() + used_;
  used_ += rounded;
  return Buffer::wrap(data, bytes, [block = block_] {});
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
