// Drafts with different options, of which the one with the fewest cycles is taken.
#include "capra/targets/ga2/schedule/fast.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/schedule/draft.h"
#include "capra/targets/ga2/schedule/memory_plan.h"

namespace capra::ga2 {
namespace {

// Gives the instructions of a draft their addresses.
class Finisher {
 public:
  Finisher(const ScheduledGraph& graph, Draft draft, MemoryPlan plan)
      : graph_(graph), draft_(std::move(draft)), plan_(std::move(plan)) {}

  Program run(bool stores_at_end) {
    program_.external_words = draft_.external_words;
    program_.external = std::move(draft_.regions);
    auto load = plan_.loads.begin();
    for (size_t i = 0; i < draft_.instructions.size(); ++i) {
      for (; load != plan_.loads.end() && load->before == i; ++load) {
        program_.instructions.emplace_back(
            Load{word(load->address), word(load->external), word(load->words)});
      }
      const DraftInstruction& one = draft_.instructions[i];
      if (one.output >= 0 && stores_at_end) continue;
      program_.instructions.push_back(one.instruction);
      spots_ = &one.spots;
      std::visit(*this, program_.instructions.back());
      if (one.output >= 0) place_output(one.output);
    }
    if (stores_at_end) store_outputs();
    program_.instructions.emplace_back(Halt{});
    program_.scratchpad_high = plan_.high_water;
    program_.events = std::move(plan_.events);
    return std::move(program_);
  }

  void operator()(Halt&) const {}
  void operator()(Load&) const {}
  void operator()(Store& one) const { one.src = address(0); }
  void operator()(Multiply& one) const {
    one.dst = address(0);
    one.a = address(1);
    one.b = address(2);
  }
  void operator()(Add& one) const {
    one.dst = address(0);
    one.src1 = address(1);
    one.src2 = address(2);
  }
  template <class T>
  void operator()(T& one) const {
    one.dst = address(0);
    one.src = address(1);
  }

 private:
  int64_t address_of(const Spot& spot) const {
    return plan_.addresses[static_cast<size_t>(spot.block)] + spot.offset;
  }
  uint32_t address(size_t operand) const { return word(address_of((*spots_)[operand])); }

  void add_region(NodeIndex output, int64_t address) {
    const NetworkNode& node = graph_.network.node(output);
    program_.external.push_back({node.name, output, address, node.shape.words()});
  }

  void place_output(NodeIndex output) {
    auto& store = std::get<Store>(program_.instructions.back());
    store.dst = word(program_.external_words);
    add_region(output, program_.external_words);
    program_.external_words += store.len;
  }

  // One store takes all that lies side by side; outputs that show the same words share them.
  void store_outputs() {
    struct Stored {
      int64_t begin;
      int64_t words;
      NodeIndex output;
    };
    std::vector<Stored> outputs;
    for (const DraftInstruction& one : draft_.instructions) {
      if (one.output < 0) continue;
      outputs.push_back(
          {address_of(one.spots[0]), graph_.network.node(one.output).shape.words(), one.output});
    }
    std::ranges::sort(outputs, {},
                      [](const Stored& one) { return std::pair(one.begin, one.output); });
    for (size_t i = 0; i < outputs.size();) {
      const int64_t begin = outputs[i].begin;
      const int64_t external = program_.external_words;
      int64_t end = begin;
      for (; i < outputs.size() && (end == begin || outputs[i].begin <= end); ++i) {
        end = std::max(end, outputs[i].begin + outputs[i].words);
        add_region(outputs[i].output, external + outputs[i].begin - begin);
      }
      program_.instructions.emplace_back(Store{word(begin), word(external), word(end - begin)});
      program_.external_words += end - begin;
    }
  }

  const ScheduledGraph& graph_;
  Draft draft_;
  MemoryPlan plan_;
  Program program_;
  const std::array<Spot, 3>* spots_ = nullptr;
};

struct Scheduled {
  Program program;
  bool has_fewest_loads;
};

Result<Scheduled> scheduled(const ScheduledGraph& graph, const DraftOptions& options,
                            int64_t external_words) {
  CAPRA_ASSIGN(Draft draft, draft_program(graph, options));
  CAPRA_ASSIGN(MemoryPlan plan, plan_memory(draft));
  const bool has_fewest_loads = plan.loads.size() <= fewest_loads(plan);
  Program program = Finisher(graph, std::move(draft), std::move(plan)).run(options.stores_at_end);
  if (program.external_words <= external_words) {
    return Scheduled{std::move(program), has_fewest_loads};
  }
  return fail("memory-full",
              "external memory is full (" + number_text(program.external_words) + " words)");
}

}  // namespace

Result<Program> compile_fast(const Network& network, const ScalePlan& plan, const Places& places,
                             int64_t external_words) {
  std::vector<Requantizer> requantizers;
  for (NodeIndex i = 0; i < network.size(); ++i) {
    CAPRA_ASSIGN(
        const std::vector<Requantizer> found,
        requantizers_of(network, plan.scales, i, places.has_fused_relu[static_cast<size_t>(i)]));
    requantizers.insert(requantizers.end(), found.begin(), found.end());
  }
  const ScheduledGraph graph{network, plan, places, requantizers, needs_of_outputs(network)};
  // The first has one load and one store where the memories have room; the others are for tight
  // ones.
  constexpr DraftOptions kOptions[] = {
      {.stores_at_end = true, .in_order_of_use = false, .unpacked = true},
      {.stores_at_end = true, .in_order_of_use = true, .unpacked = true},
      {.stores_at_end = false, .in_order_of_use = true, .unpacked = true},
      {.stores_at_end = true, .in_order_of_use = false, .unpacked = false},
      {.stores_at_end = false, .in_order_of_use = true, .unpacked = false},
  };
  Result<Program> best = fail("memory-full", "no schedule fits");
  for (const DraftOptions& options : kOptions) {
    Result<Scheduled> found = scheduled(graph, options, external_words);
    if (!found.ok()) {
      if (!best.ok()) best = fail(found.error());
      continue;
    }
    const bool is_better =
        !best.ok() || cost(found->program.instructions).total < cost(best->instructions).total;
    if (is_better) best = std::move(found->program);
    if (found->has_fewest_loads && options.stores_at_end) break;
  }
  if (!best.ok()) return best;
  best->schedule = Schedule::Fast;
  best->network = network;
  best->plan = plan;
  best->requantizers = std::move(requantizers);
  best->has_fused_relu = places.has_fused_relu;
  best->addresses.resize(network.nodes().size());
  return best;
}

}  // namespace capra::ga2
