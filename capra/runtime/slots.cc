// Lives from the steps, then slots by size.
#include "capra/runtime/slots.h"

#include <algorithm>
#include <utility>

namespace capra {
namespace {

// Memory that one value holds, or several that overwrite each other.
struct Held {
  std::vector<int32_t> values;
  double bytes = 0;
  int32_t first_step = 0;
  int32_t last_step = 0;
};

PlanValue& value_of(Plan& plan, int32_t id) { return plan.values[static_cast<size_t>(id)]; }

void find_lives(Plan& plan) {
  const auto base = [&](int32_t id) -> PlanValue& {
    return value_of(plan, value_of(plan, id).base);
  };
  const auto end = static_cast<int32_t>(plan.steps.size());
  for (int32_t at = 0; at < end; ++at) {
    const PlanStep& step = plan.steps[static_cast<size_t>(at)];
    PlanValue& result = value_of(plan, step.result);
    result.first_step = at;
    result.last_step = at;
    for (const int32_t operand : step.operands) {
      if (operand >= 0) base(operand).last_step = at;
    }
  }
  for (const PlanCopy& copy : plan.copies) base(copy.value).last_step = end;
}

// Bytes with every symbol at a middling value: only to compare sizes.
double nominal_bytes(const PlanValue& value) {
  double bytes = static_cast<double>(dtype_bytes(value.dtype));
  for (const PlanDim& dim : value.dims) {
    bytes *= dim.symbol < 0 ? static_cast<double>(dim.size) : 256;
  }
  return bytes;
}

// The operand in whose memory the result of step `at` can lie, or -1.
int32_t overwritten(Plan& plan, int32_t at) {
  const PlanStep& step = plan.steps[static_cast<size_t>(at)];
  const PlanValue& result = value_of(plan, step.result);
  for (size_t index = 0; index < step.operands.size(); ++index) {
    const int32_t id = step.operands[index];
    if (id < 0 || !step.step->may_overwrite(index)) continue;
    const PlanValue& operand = value_of(plan, id);
    const auto reads_base = [&](int32_t other) {
      return other >= 0 && value_of(plan, other).base == operand.base;
    };
    // Another operand that looks into the same memory would see it change.
    if (std::ranges::count_if(step.operands, reads_base) > 1) continue;
    if (operand.base == id && operand.storage == Storage::Slot && operand.last_step == at &&
        operand.dtype == result.dtype && operand.dims == result.dims) {
      return id;
    }
  }
  return -1;
}

std::vector<Held> held_memory(Plan& plan) {
  std::vector<Held> all;
  std::vector<size_t> of_value(plan.values.size(), 0);
  for (int32_t at = 0; at < static_cast<int32_t>(plan.steps.size()); ++at) {
    const int32_t id = plan.steps[static_cast<size_t>(at)].result;
    const PlanValue& result = value_of(plan, id);
    if (result.storage != Storage::Slot) continue;
    const int32_t over = overwritten(plan, at);
    size_t& memory = of_value[static_cast<size_t>(id)];
    if (over >= 0) {
      memory = of_value[static_cast<size_t>(over)];
    } else {
      memory = all.size();
      all.push_back({{}, nominal_bytes(result), at, at});
    }
    all[memory].values.push_back(id);
    all[memory].last_step = result.last_step;
  }
  return all;
}

// More than any address space has; thousands of such slots still add up in 63 bits.
constexpr int64_t kMostBytes = int64_t{1} << 48;

Failure too_large(const PlanValue& value, std::span<const int64_t> symbols) {
  std::vector<Dim> dims;
  dims.reserve(value.dims.size());
  for (const PlanDim& dim : value.dims) dims.emplace_back(dim.bound(symbols));
  return fail("shape-too-large",
              TensorType{value.dtype, Shape(std::move(dims))}.text() + " does not fit in memory",
              {}, "run the graph on smaller inputs");
}

}  // namespace

void assign_slots(Plan& plan) {
  find_lives(plan);
  std::vector<Held> held = held_memory(plan);
  // The largest first: each goes into the first slot that is free for all of its life.
  std::ranges::sort(held, [](const Held& a, const Held& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.first_step < b.first_step;
  });
  std::vector<std::vector<const Held*>> slots;
  for (Held& memory : held) {
    const auto meets = [&](const Held* other) {
      return memory.first_step <= other->last_step && other->first_step <= memory.last_step;
    };
    auto slot = std::ranges::find_if(
        slots, [&](const auto& users) { return std::ranges::none_of(users, meets); });
    if (slot == slots.end()) slot = slots.emplace(slots.end());
    slot->push_back(&memory);
    for (const int32_t id : memory.values) {
      value_of(plan, id).index = static_cast<int32_t>(slot - slots.begin());
    }
  }
  plan.slots = static_cast<int32_t>(slots.size());
  for (PlanValue& view : plan.values) {
    if (view.storage == Storage::Slot) view.index = value_of(plan, view.base).index;
  }
}

Status Plan::lay_out(std::span<const int64_t> bound_symbols, SlotLayout& layout) const {
  layout.offsets.assign(static_cast<size_t>(slots), 0);
  for (const PlanValue& value : values) {
    auto bytes = static_cast<int64_t>(dtype_bytes(value.dtype));
    bool counted = true;
    for (const PlanDim& dim : value.dims) counted &= grow_bytes(bytes, dim.bound(bound_symbols));
    if (!counted || bytes > kMostBytes) return too_large(value, bound_symbols);
  }
  // Now every product is known to fit.
  for (const PlanStep& step : steps) {
    const PlanValue& value = values[static_cast<size_t>(step.result)];
    if (value.storage != Storage::Slot) continue;
    size_t bytes = dtype_bytes(value.dtype);
    for (const PlanDim& dim : value.dims) bytes *= static_cast<size_t>(dim.bound(bound_symbols));
    size_t& size = layout.offsets[static_cast<size_t>(value.index)];
    size =
        std::max(size, (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment);
  }
  layout.bytes = 0;
  for (size_t& place : layout.offsets) layout.bytes += std::exchange(place, layout.bytes);
  return {};
}

}  // namespace capra
