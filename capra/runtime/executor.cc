// Running a plan: bind symbols, lay out slots, point views at memory, run the steps in order.
#include "capra/runtime/executor.h"

#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace capra {
namespace {

class PlannedState : public Workspace::State {
 public:
  PlannedState(const Plan& plan, std::shared_ptr<ThreadPool> threads)
      : pool(std::move(threads)),
        symbols(plan.symbols.size(), -1),
        next_symbols(plan.symbols.size(), -1),
        views(plan.values.size()) {
    for (size_t id = 0; id < views.size(); ++id) {
      views[id].dtype = plan.values[id].dtype;
      views[id].rank = static_cast<int>(plan.values[id].dims.size());
    }
    for (const PlanStep& step : plan.steps) {
      first_operand.push_back(operands.size());
      for (const int32_t id : step.operands) {
        operands.push_back(id < 0 ? nullptr : &views[static_cast<size_t>(id)]);
      }
      kernel_records.push_back({.label = step.label, .path = step.path});
    }
    first_operand.push_back(operands.size());
  }

  std::span<const ExecutionRecord> records() const override { return kernel_records; }
  size_t bytes() const override {
    return (arena == nullptr ? 0 : arena->size()) + scratch.capacity();
  }
  void set_timing(bool on) override { timing = on; }

  std::shared_ptr<ThreadPool> pool;
  std::vector<int64_t> symbols;  // of the last run; -1 before the first
  std::vector<int64_t> next_symbols;
  std::vector<View> views;  // of each value
  std::vector<const View*> operands;
  std::vector<size_t> first_operand;
  SlotLayout layout;
  std::shared_ptr<Buffer> arena;
  Scratch scratch;
  std::vector<ExecutionRecord> kernel_records;
  bool timing = false;
  bool bound = false;
};

class PlannedExecutable : public Executable {
 public:
  PlannedExecutable(const Graph& graph, Plan plan)
      : Executable(input_ports(graph), output_ports(graph)), plan_(std::move(plan)) {}

  Workspace make_workspace(std::shared_ptr<ThreadPool> pool) const override {
    if (pool == nullptr) pool = std::make_shared<ThreadPool>(1);
    return Workspace(std::make_unique<PlannedState>(plan_, std::move(pool)));
  }

  using Executable::run;
  Status run(Workspace& workspace, std::span<const InputRef> inputs,
             std::span<const OutputRef> outputs) const override {
    auto& state = static_cast<PlannedState&>(workspace.state());
    try {
      return run_plan(inputs, outputs, state);
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }

 private:
  Status run_plan(std::span<const InputRef> inputs, std::span<const OutputRef> outputs,
                  PlannedState& state) const {
    CAPRA_TRY(bind_symbols(inputs, state));
    if (!state.bound || state.next_symbols != state.symbols) CAPRA_TRY(bind_views(state));
    CAPRA_TRY(point_views(inputs, outputs, state));
    for (size_t index = 0; index < plan_.steps.size(); ++index) {
      CAPRA_TRY(run_step(index, state));
    }
    for (const PlanCopy& copy : plan_.copies) {
      const View& view = state.views[static_cast<size_t>(copy.value)];
      const OutputRef& output = outputs[static_cast<size_t>(copy.output)];
      if (output.bytes != 0) std::memcpy(output.data, view.data, output.bytes);
    }
    return {};
  }

  Status bind_symbols(std::span<const InputRef> inputs, PlannedState& state) const {
    CAPRA_TRY(check_inputs(inputs));
    for (int64_t& symbol : state.next_symbols) symbol = -1;
    for (size_t index = 0; index < inputs.size(); ++index) {
      const PlanValue& value = plan_.values[static_cast<size_t>(plan_.inputs[index])];
      for (size_t axis = 0; axis < value.dims.size(); ++axis) {
        const int32_t symbol = value.dims[axis].symbol;
        if (symbol < 0) continue;
        int64_t& known = state.next_symbols[static_cast<size_t>(symbol)];
        const int64_t size = inputs[index].sizes[axis];
        if (known >= 0 && known != size) {
          return symbol_conflict(this->inputs()[index], plan_.symbols[static_cast<size_t>(symbol)],
                                 known, size);
        }
        known = size;
      }
    }
    return {};
  }

  Status bind_views(PlannedState& state) const {
    state.bound = false;
    CAPRA_TRY(plan_.lay_out(state.next_symbols, state.layout));
    for (size_t id = 0; id < state.views.size(); ++id) {
      const PlanValue& value = plan_.values[id];
      View& view = state.views[id];
      for (size_t axis = 0; axis < value.dims.size(); ++axis) {
        view.dims[axis] = value.dims[axis].bound(state.next_symbols);
      }
      if (value.strides.empty()) {
        view.set_contiguous();
      } else {
        std::copy(value.strides.begin(), value.strides.end(), view.strides.begin());
      }
    }
    for (const PlanCheck& check : plan_.checks) CAPRA_TRY(check_extent(check, state));
    if (state.arena == nullptr || state.arena->size() < state.layout.bytes) {
      state.arena.reset();
      state.arena = Buffer::allocate(state.layout.bytes);
    }
    state.symbols = state.next_symbols;
    state.bound = true;
    return {};
  }

  Status check_extent(const PlanCheck& check, const PlannedState& state) const {
    const View& operand = state.views[static_cast<size_t>(check.operand)];
    if (check.axis < 0) {
      const View& result = state.views[static_cast<size_t>(check.result)];
      if (operand.elements() == result.elements()) return {};
      return fail("reshape-elements",
                  "a reshape has " + std::to_string(operand.elements()) +
                      " elements and its result " + std::to_string(result.elements()),
                  check.path, "give inputs whose extents fit the model");
    }
    const int64_t limit = check.limit.bound(state.next_symbols);
    if (limit <= operand.dim(check.axis)) return {};
    return fail("slice-out-of-range",
                "a slice ends at " + std::to_string(limit) + ", axis " +
                    std::to_string(check.axis) + " of its operand has " +
                    std::to_string(operand.dim(check.axis)),
                check.path, "give shorter inputs");
  }

  Status point_views(std::span<const InputRef> inputs, std::span<const OutputRef> outputs,
                     PlannedState& state) const {
    CAPRA_TRY(check_output_count(outputs));
    for (size_t index = 0; index < outputs.size(); ++index) {
      const View& view = state.views[static_cast<size_t>(plan_.outputs[index])];
      if (outputs[index].dtype == view.dtype && outputs[index].bytes == view.byte_size()) continue;
      return output_size_failure(this->outputs()[index], view.byte_size(), outputs[index]);
    }
    for (size_t id = 0; id < state.views.size(); ++id) {
      const PlanValue& value = plan_.values[id];
      std::byte* start = nullptr;
      const auto index = static_cast<size_t>(value.index);
      switch (value.storage) {
        case Storage::Input:
          // Read only: no step writes to an operand.
          start = const_cast<std::byte*>(inputs[index].data);
          break;
        case Storage::Constant:
          if (value.index >= 0) start = const_cast<std::byte*>(plan_.constants[index].data());
          break;
        case Storage::Slot:
          if (value.index >= 0) start = state.arena->data() + state.layout.offsets[index];
          break;
        case Storage::Output:
          start = outputs[index].data;
          break;
      }
      const auto offset = value.offset * static_cast<int64_t>(dtype_bytes(value.dtype));
      state.views[id].data = start == nullptr ? nullptr : start + offset;
    }
    return {};
  }

  Status run_step(size_t index, PlannedState& state) const {
    const PlanStep& step = plan_.steps[index];
    const View& result = state.views[static_cast<size_t>(step.result)];
    const StepCall call{
        .operands = std::span<const View* const>(state.operands)
                        .subspan(state.first_operand[index],
                                 state.first_operand[index + 1] - state.first_operand[index]),
        .result = result,
        .pool = *state.pool,
        .scratch = state.scratch};
    if (result.elements() == 0) return {};
    const auto begin =
        state.timing ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    Status status = step.step->run(call);
    if (state.timing) {
      ExecutionRecord& record = state.kernel_records[index];
      record.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::steady_clock::now() - begin)
                               .count();
      const StepWork work = step.step->work(call);
      record.flops = work.flops;
      record.bytes = work.bytes;
    }
    if (status.ok() || !status.error().at.empty()) return status;
    Diagnostic diagnostic = status.error();
    diagnostic.at = step.path.empty() ? step.label : step.path;
    return fail(std::move(diagnostic));
  }

  Plan plan_;
};

}  // namespace

std::unique_ptr<Executable> make_planned_executable(const Graph& graph, Plan plan) {
  return std::make_unique<PlannedExecutable>(graph, std::move(plan));
}

}  // namespace capra
