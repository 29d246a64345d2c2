// Planning in four parts: values and steps from nodes, views, lives and slots, outputs.
#include "capra/runtime/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "capra/ir/structural_ops.h"
#include "capra/ops/constant.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "capra/runtime/slots.h"
#include "capra/runtime/view_layout.h"

namespace capra {
namespace {

// A node of the graph, or of the body of a group that has no kernel, over plan values.
struct Call {
  const Node* node = nullptr;
  std::vector<int32_t> operands;
  int32_t result = -1;
  bool may_alias = false;  // a reshape, or a slice without steps
  bool copied = false;     // a view that some reader cannot take
  std::unique_ptr<Step> step;
};

class Planner {
 public:
  explicit Planner(const PlanRequest& request) : request_(request) {}

  Result<Plan> make() {
    CAPRA_TRY(read_graph());
    CAPRA_TRY(find_views());
    emit_steps();
    place_outputs();
    assign_slots(plan_);
    keep_constants();
    return std::move(plan_);
  }

 private:
  // --- values and calls

  Result<int32_t> add_value(const TensorType& type, const std::string& path) {
    if (type.shape.rank() > kMaxRunRank) {
      return fail("rank-unsupported",
                  type.text() + " has more than " + std::to_string(kMaxRunRank) + " dims", path);
    }
    PlanValue value;
    value.dtype = type.dtype;
    value.base = static_cast<int32_t>(plan_.values.size());
    for (const Dim& dim : type.shape.dims()) {
      if (dim.is_static()) {
        value.dims.push_back({dim.size(), -1});
        continue;
      }
      const auto known = std::ranges::find(plan_.symbols, dim.symbol());
      if (known == plan_.symbols.end()) {
        return fail("symbol-unbound", "no input has the extent " + dim.symbol(), path,
                    "use symbols that occur in the shapes of the inputs");
      }
      value.dims.push_back({0, static_cast<int32_t>(known - plan_.symbols.begin())});
    }
    plan_.values.push_back(std::move(value));
    types_.push_back(type);
    constants_.emplace_back();
    return plan_.values.back().base;
  }

  PlanValue& value(int32_t id) { return plan_.values[static_cast<size_t>(id)]; }

  static std::vector<bool> reachable(const Graph& graph) {
    std::vector<bool> used(static_cast<size_t>(graph.size()), false);
    for (NodeId id = graph.size(); id-- > 0;) {
      const Node& node = graph.node(id);
      if (node.op == &kOutput) used[static_cast<size_t>(id)] = true;
      if (!used[static_cast<size_t>(id)]) continue;
      for (const NodeId operand : node.operands) {
        if (operand != kAbsent) used[static_cast<size_t>(operand)] = true;
      }
    }
    return used;
  }

  Status read_graph() {
    const Graph& graph = request_.graph;
    for (const NodeId id : graph.inputs()) {
      for (const Dim& dim : graph.node(id).type.shape.dims()) {
        if (!dim.is_static() && std::ranges::count(plan_.symbols, dim.symbol()) == 0) {
          plan_.symbols.push_back(dim.symbol());
        }
      }
    }
    CAPRA_ASSIGN(plan_.outputs, read_nodes(graph, nullptr));
    return {};
  }

  // Adds the calls of a graph; of a body, with the values of its group's operands. Returns the
  // values of the outputs.
  Result<std::vector<int32_t>> read_nodes(const Graph& graph, const std::vector<int32_t>* bound) {
    const std::vector<bool> used = reachable(graph);
    std::vector<int32_t> of_node(static_cast<size_t>(graph.size()), -1);
    std::vector<int32_t> outputs;
    size_t next_input = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      int32_t& result = of_node[static_cast<size_t>(id)];
      if (node.op == &kInput) {
        if (bound != nullptr) {
          result = (*bound)[next_input++];
          continue;
        }
        CAPRA_ASSIGN(result, add_value(node.type, node.path));
        value(result).storage = Storage::Input;
        value(result).index = static_cast<int32_t>(next_input++);
        plan_.inputs.push_back(result);
        continue;
      }
      if (!used[static_cast<size_t>(id)]) continue;
      if (node.op == &kOutput) {
        outputs.push_back(of_node[static_cast<size_t>(node.operands.front())]);
      } else if (node.op == &kParameter || node.op == &kConstant) {
        CAPRA_ASSIGN(Array data, constant_of(node));
        CAPRA_ASSIGN(result, add_value(node.type, node.path));
        value(result).storage = Storage::Constant;
        constants_[static_cast<size_t>(result)] = std::move(data);
      } else {
        std::vector<int32_t> operands;
        operands.reserve(node.operands.size());
        for (const NodeId operand : node.operands) {
          operands.push_back(operand == kAbsent ? -1 : of_node[static_cast<size_t>(operand)]);
        }
        CAPRA_ASSIGN(result, read_call(node, std::move(operands)));
      }
    }
    return outputs;
  }

  Result<Array> constant_of(const Node& node) {
    if (node.op == &kConstant) return node.attrs_as<ConstantAttrs>().value;
    const std::string path = node.attrs_as<ParameterAttrs>().path;
    const auto found = request_.parameters.find(path);
    if (found == request_.parameters.end()) {
      return fail("parameter-missing", "there is no data for a parameter of the graph", path,
                  "give data under this path");
    }
    if (found->second.type() != node.type) {
      return fail(
          "parameter-type",
          "the graph takes " + node.type.text() + ", the data is " + found->second.type().text(),
          path);
    }
    return found->second;
  }

  Result<int32_t> read_call(const Node& node, std::vector<int32_t> operands) {
    if (node.op == &kReshape || node.op == &kSlice) {
      CAPRA_ASSIGN(const int32_t result, add_value(node.type, node.path));
      Call call;
      call.node = &node;
      call.operands = std::move(operands);
      call.result = result;
      call.may_alias = true;
      add_checks(call);
      calls_.push_back(std::move(call));
      return result;
    }
    CAPRA_ASSIGN(std::unique_ptr<Step> step, make_step(node, operands));
    if (step == nullptr) {
      CAPRA_ASSIGN(const std::vector<int32_t> outputs, read_nodes(*node.body, &operands));
      return outputs.front();
    }
    CAPRA_ASSIGN(const int32_t result, add_value(node.type, node.path));
    Call call;
    call.node = &node;
    call.operands = std::move(operands);
    call.result = result;
    call.step = std::move(step);
    calls_.push_back(std::move(call));
    return result;
  }

  Result<std::unique_ptr<Step>> make_step(const Node& node, const std::vector<int32_t>& operands) {
    std::vector<const TensorType*> types;
    std::vector<const Array*> known;
    for (const int32_t id : operands) {
      const size_t at = static_cast<size_t>(id);
      types.push_back(id < 0 ? nullptr : &types_[at]);
      known.push_back(id < 0 || !constants_[at] ? nullptr : &constants_[at]);
    }
    const OpRow* row = nullptr;
    if (node.op != &kGroup) {
      row = request_.table.find(*node.op, types, node.attrs, node.type);
      if (row == nullptr) {
        return fail(op_not_legal(request_.target, request_.table, *node.op, types, node.path));
      }
    }
    Result<std::unique_ptr<Step>> step = request_.make_step({.node = node,
                                                             .operands = types,
                                                             .constants = known,
                                                             .row = row,
                                                             .pool = request_.pool,
                                                             .memory = memory_});
    if (!step.ok()) {
      Diagnostic diagnostic = step.error();
      if (diagnostic.at.empty()) diagnostic.at = node.path;
      return fail(std::move(diagnostic));
    }
    if (*step != nullptr) {
      // What was packed is not read again: a mapping can give its memory back at once.
      for (size_t index = 0; index < known.size(); ++index) {
        if (known[index] != nullptr && !(*step)->reads(index)) known[index]->drop_pages();
      }
    }
    return step;
  }

  void add_checks(const Call& call) {
    const Node& node = *call.node;
    PlanCheck check;
    check.operand = call.operands.front();
    check.result = call.result;
    check.path = node.path;
    if (node.op == &kReshape) {
      plan_.checks.push_back(std::move(check));
      return;
    }
    const auto attrs = node.attrs_as<SliceAttrs>();
    for (int64_t axis = 0; axis < attrs.limits.rank(); ++axis) {
      const Dim& limit = attrs.limits[axis];
      check.axis = static_cast<int32_t>(axis);
      if (limit.is_static()) {
        check.limit = {limit.size(), -1};
      } else {
        const auto symbol = std::ranges::find(plan_.symbols, limit.symbol());
        // A symbol of no input was refused with the result's type.
        if (symbol == plan_.symbols.end()) continue;
        check.limit = {0, static_cast<int32_t>(symbol - plan_.symbols.begin())};
      }
      if (check.limit != value(check.operand).dims[static_cast<size_t>(axis)]) {
        plan_.checks.push_back(check);
      }
    }
  }

  // --- views

  // The layout of a view over its operand's; nothing where it needs a copy.
  bool set_layout(Call& call) {
    PlanValue& result = value(call.result);
    const PlanValue& operand = value(call.operands.front());
    std::optional<ViewLayout> layout;
    const ViewLayout from{operand.offset, operand.strides};
    if (call.node->op == &kReshape) {
      layout = reshape_layout(operand.dims, from, result.dims);
    } else {
      const auto attrs = call.node->attrs_as<SliceAttrs>();
      layout = slice_layout(operand.dims, from, attrs.starts, attrs.strides, result.dims);
    }
    if (!layout) return false;
    result.base = operand.base;
    result.offset = layout->offset;
    result.strides = std::move(layout->strides);
    return true;
  }

  Call* writer(int32_t id) {
    const auto found = std::ranges::find(calls_, id, &Call::result);
    return found == calls_.end() ? nullptr : &*found;
  }

  // Makes views of all reshapes and slices that can be, then copies those that a reader cannot
  // take, until nothing changes.
  Status find_views() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (Call& call : calls_) {
        PlanValue& result = value(call.result);
        result.base = call.result;
        result.offset = 0;
        result.strides.clear();
        if (!call.may_alias || call.copied) continue;
        if (set_layout(call)) continue;
        // A reshape of what lies row-major is always a view: its operand must become that.
        if (call.node->op == &kReshape) {
          writer(call.operands.front())->copied = true;
        } else {
          call.copied = true;
        }
        changed = true;
        break;
      }
      if (!changed) changed = copy_unreadable();
    }
    for (Call& call : calls_) {
      if (!call.copied) continue;
      CAPRA_ASSIGN(call.step, make_step(*call.node, call.operands));
      CAPRA_CHECK(call.step != nullptr);
    }
    return {};
  }

  bool copy_unreadable() {
    const auto need_copy = [&](int32_t id) {
      if (id < 0 || value(id).strides.empty()) return false;
      writer(id)->copied = true;
      return true;
    };
    for (Call& call : calls_) {
      if (call.may_alias && !call.copied) continue;  // a view of a view
      for (size_t index = 0; index < call.operands.size(); ++index) {
        // The copy of a slice reads any layout.
        const bool takes = call.step == nullptr || call.step->takes_strided(index);
        if (!takes && need_copy(call.operands[index])) return true;
      }
    }
    return std::ranges::any_of(plan_.outputs, need_copy);
  }

  // --- steps, outputs, constants

  void emit_steps() {
    for (Call& call : calls_) {
      if (call.step == nullptr) continue;
      PlanStep step;
      for (size_t index = 0; index < call.operands.size(); ++index) {
        step.operands.push_back(call.step->reads(index) ? call.operands[index] : -1);
      }
      step.result = call.result;
      step.label = call.node->op == &kGroup ? call.node->attrs_as<GroupAttrs>().label
                                            : std::string(call.node->op->name);
      step.path = call.node->path;
      step.step = std::move(call.step);
      plan_.steps.push_back(std::move(step));
    }
    // Views take the storage of their base, which came first.
    for (PlanValue& view : plan_.values) {
      const PlanValue& base = value(view.base);
      view.storage = base.storage;
      view.index = base.index;
    }
  }

  void place_outputs() {
    for (size_t index = 0; index < plan_.outputs.size(); ++index) {
      const int32_t id = plan_.outputs[index];
      PlanValue& result = value(id);
      if (result.base == id && result.storage == Storage::Slot) {
        for (PlanValue& any : plan_.values) {
          if (any.base != id) continue;
          any.storage = Storage::Output;
          any.index = static_cast<int32_t>(index);
        }
      } else {
        plan_.copies.push_back({id, static_cast<int32_t>(index)});
      }
    }
  }

  void keep_constants() {
    std::vector<bool> read(plan_.values.size(), false);
    for (const PlanStep& step : plan_.steps) {
      for (const int32_t id : step.operands) {
        if (id >= 0) read[static_cast<size_t>(value(id).base)] = true;
      }
    }
    for (const PlanCopy& copy : plan_.copies) {
      read[static_cast<size_t>(value(copy.value).base)] = true;
    }
    for (size_t id = 0; id < constants_.size(); ++id) {
      if (!constants_[id] || !read[id]) continue;
      plan_.values[id].index = static_cast<int32_t>(plan_.constants.size());
      plan_.constants.push_back(std::move(constants_[id]));
    }
    for (PlanValue& view : plan_.values) {
      if (view.storage == Storage::Constant) view.index = value(view.base).index;
    }
  }

  const PlanRequest& request_;
  Plan plan_;
  std::vector<TensorType> types_;  // of each value
  std::vector<Array> constants_;   // of each value; empty where it is computed
  std::vector<Call> calls_;
  StepMemory memory_;
};

}  // namespace

Result<Plan> make_plan(const PlanRequest& request) { return Planner(request).make(); }

}  // namespace capra
