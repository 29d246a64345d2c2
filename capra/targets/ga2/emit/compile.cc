// Instructions, node after node in the author's order. Inputs and weights are loaded where they are
// first needed; a buffer gets its address when it is first touched and gives it back after its last
// use.
#include <algorithm>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/emit/program.h"
#include "capra/targets/ga2/schedule/fast.h"
#include "capra/targets/ga2/schedule/needed_rows.h"
#include "capra/targets/ga2/tile/tiles.h"

namespace capra::ga2 {
namespace {

int64_t external_words(const NetworkNode& node) {
  const bool is_outside =
      node.op == NodeOp::Input || node.op == NodeOp::Weight || node.op == NodeOp::Output;
  return !is_outside ? 0 : node.bits == 4 ? packed_words(node.shape.words()) : node.shape.words();
}

// Without scales it only tells whether memory holds the program.
class Emitter {
 public:
  Emitter(const Network& network, ScalePlan plan, Places places, const CompileOptions& options)
      : places_(std::move(places)),
        options_(options),
        allocator_(kScratchpadWords),
        addresses_(places_.buffer_words.size()),
        loaded_(network.nodes().size()) {
    program_.network = network;
    program_.plan = std::move(plan);
    program_.has_fused_relu = places_.has_fused_relu;
  }

  Result<Program> run() {
    CAPRA_TRY(lay_out_external_memory());
    for (NodeIndex i = 0; i < network().size(); ++i) CAPRA_TRY(emit(i));
    program_.instructions.push_back(Halt{});
    program_.scratchpad_high = allocator_.high_water();
    program_.events = allocator_.events();
    for (NodeIndex i = 0; i < network().size(); ++i) {
      program_.addresses.push_back(place(i).buffer < 0 || !buffer_address(i)
                                       ? std::nullopt
                                       : std::optional(address_in_buffer(i)));
    }
    return std::move(program_);
  }

 private:
  const Network& network() const { return program_.network; }
  const NetworkNode& node(NodeIndex index) const { return network().node(index); }
  const Place& place(NodeIndex index) const { return places_.places[static_cast<size_t>(index)]; }
  std::optional<int64_t>& buffer_address(NodeIndex index) {
    return addresses_[static_cast<size_t>(place(index).buffer)];
  }
  int64_t address_in_buffer(NodeIndex index) {
    return *buffer_address(index) + place(index).row * node(index).shape.columns;
  }
  void append(Instruction instruction) { program_.instructions.push_back(instruction); }

  Status lay_out_external_memory() {
    const auto add = [&](NodeIndex i, int64_t words) {
      program_.external.push_back({node(i).name, i, program_.external_words, words});
      program_.external_words += words;
    };
    for (NodeIndex i = 0; i < network().size(); ++i) {
      const NodeOp op = node(i).op;
      if (op == NodeOp::Input || op == NodeOp::Weight) add(i, external_words(node(i)));
    }
    for (NodeIndex i = 0; i < network().size(); ++i) {
      if (node(i).op == NodeOp::Output) add(i, external_words(node(i)));
    }
    if (program_.external_words <= options_.external_words) return {};
    return fail("memory-full",
                "external memory is full (" + number_text(program_.external_words) + " words)", {},
                "the chip has " + number_text(options_.external_words) +
                    " words for inputs, weights and outputs");
  }

  const ExternalRegion& region(NodeIndex index) const {
    return *std::ranges::find(program_.external, index, &ExternalRegion::node);
  }

  Result<int64_t> address_of(NodeIndex index) {
    std::optional<int64_t>& address = buffer_address(index);
    if (!address) {
      const auto buffer = static_cast<size_t>(place(index).buffer);
      CAPRA_ASSIGN(address, allocator_.allocate(places_.buffer_words[buffer]));
    }
    return address_in_buffer(index);
  }

  // The address of a tensor whose values are there; an input or weight is loaded first.
  Result<int64_t> ready(NodeIndex index) {
    CAPRA_ASSIGN(const int64_t address, address_of(index));
    const NetworkNode& tensor = node(index);
    const bool is_outside = tensor.op == NodeOp::Input || tensor.op == NodeOp::Weight;
    if (!is_outside || loaded_[static_cast<size_t>(index)]) return address;
    loaded_[static_cast<size_t>(index)] = true;
    const ExternalRegion& source = region(index);
    if (tensor.op == NodeOp::Input || tensor.bits == 8) {
      append(Load{word(address), word(source.address), word(source.words)});
      return address;
    }
    CAPRA_ASSIGN(const int64_t packed, allocator_.allocate(source.words));
    append(Load{word(packed), word(source.address), word(source.words)});
    append(Unpack{word(address), word(packed), word(source.words)});
    allocator_.release(packed, source.words);
    return address;
  }

  Status emit(NodeIndex index) {
    const NetworkNode& one = node(index);
    if (one.op == NodeOp::Input || one.op == NodeOp::Weight) return {};
    std::vector<int64_t> operands;
    for (const NodeIndex operand : one.operands) {
      CAPRA_ASSIGN(const int64_t address, ready(operand));
      operands.push_back(address);
    }
    switch (one.op) {
      case NodeOp::Input:
      case NodeOp::Weight:
        break;
      // These are views: they only take their place, and what they view is not released here.
      case NodeOp::Relu:
      case NodeOp::Concat:
      case NodeOp::Slice: {
        CAPRA_ASSIGN([[maybe_unused]] const int64_t view, address_of(index));
        return {};
      }
      case NodeOp::Matmul:
        CAPRA_TRY(emit_matmul(index, operands));
        break;
      case NodeOp::Softmax:
        CAPRA_TRY(emit_softmax(index, operands[0]));
        break;
      case NodeOp::Add:
        CAPRA_TRY(emit_add(index, operands));
        break;
      case NodeOp::Argmax:
        CAPRA_TRY(emit_argmax(index, operands[0]));
        break;
      case NodeOp::Output:
        append(Store{word(operands[0]), word(region(index).address), word(one.shape.words())});
        break;
    }
    if (options_.reuse) release_after(index);
    return {};
  }

  void release_after(NodeIndex index) {
    for (const LastUse& use : places_.last_uses) {
      std::optional<int64_t>& address = addresses_[static_cast<size_t>(use.buffer)];
      if (use.node != index || !address) continue;
      allocator_.release(*address, places_.buffer_words[static_cast<size_t>(use.buffer)]);
      address.reset();
    }
  }

  // Records how a node comes to its scale. Where there are no scales, the fewest that it may need.
  Result<std::vector<Requantizer>> requantizers(NodeIndex index) {
    if (program_.plan.scales.empty()) {
      return std::vector<Requantizer>(node(index).op == NodeOp::Add ? 0 : 1);
    }
    const bool relu = places_.has_fused_relu[static_cast<size_t>(index)];
    CAPRA_ASSIGN(std::vector<Requantizer> found,
                 requantizers_of(network(), program_.plan.scales, index, relu));
    program_.requantizers.insert(program_.requantizers.end(), found.begin(), found.end());
    return found;
  }

  void append_requantize(int64_t result, int64_t source, int64_t words, const Requantizer& by) {
    append(Requantize{word(result), word(source), word(words), by.factor.mantissa, by.factor.shift,
                      by.relu ? 1u : 0u});
  }

  Status emit_matmul(NodeIndex index, const std::vector<int64_t>& operands) {
    const NetworkNode& one = node(index);
    const int64_t k = node(one.operands[0]).shape.columns;
    if (k > kMostInner) {
      return fail("inner-dimension-too-large",
                  "matmul node " + number_text(index) + ": inner dimension " + number_text(k) +
                      " exceeds the matrix unit's limit of " + number_text(kMostInner),
                  {}, "split the product: the unit cannot add to an earlier result");
    }
    const int64_t words = one.shape.words();
    CAPRA_ASSIGN(const int64_t result, address_of(index));
    CAPRA_ASSIGN(const int64_t sums, allocator_.allocate(words));
    for (const Multiply& tile : tiled({.dst = sums,
                                       .a = operands[0],
                                       .b = operands[1],
                                       .m = one.shape.rows,
                                       .k = k,
                                       .n = one.shape.columns,
                                       .transpose_b = one.transpose_b})) {
      append(tile);
    }
    CAPRA_ASSIGN(const std::vector<Requantizer> by, requantizers(index));
    append_requantize(result, sums, words, by[0]);
    allocator_.release(sums, words);
    return {};
  }

  Status emit_softmax(NodeIndex index, int64_t scores) {
    const Extents shape = node(index).shape;
    CAPRA_ASSIGN(const int64_t result, address_of(index));
    CAPRA_ASSIGN(const int64_t fractions, allocator_.allocate(shape.words()));
    for (int64_t row = 0; row < shape.rows; ++row) {
      const int64_t offset = row * shape.columns;
      append(Softmax{word(fractions + offset), word(scores + offset), word(shape.columns)});
    }
    CAPRA_ASSIGN(const std::vector<Requantizer> by, requantizers(index));
    append_requantize(result, fractions, shape.words(), by[0]);
    allocator_.release(fractions, shape.words());
    return {};
  }

  Status emit_add(NodeIndex index, const std::vector<int64_t>& operands) {
    const NetworkNode& one = node(index);
    const int64_t words = one.shape.words();
    std::vector<int64_t> sources = operands;
    std::vector<int64_t> temporaries;
    CAPRA_ASSIGN(const std::vector<Requantizer> rescalings, requantizers(index));
    for (const Requantizer& by : rescalings) {
      CAPRA_ASSIGN(const int64_t rescaled, allocator_.allocate(words));
      temporaries.push_back(rescaled);
      int64_t& source = sources[static_cast<size_t>(*by.operand)];
      append_requantize(rescaled, source, words, by);
      source = rescaled;
    }
    CAPRA_ASSIGN(const int64_t result, address_of(index));
    append(Add{word(result), word(sources[0]), word(sources[1]), word(words)});
    for (const int64_t one_temporary : temporaries) allocator_.release(one_temporary, words);
    return {};
  }

  Status emit_argmax(NodeIndex index, int64_t rows) {
    const Extents source = node(node(index).operands[0]).shape;
    CAPRA_ASSIGN(const int64_t result, address_of(index));
    for (int64_t row = 0; row < source.rows; ++row) {
      append(Argmax{word(result + row), word(rows + row * source.columns), word(source.columns)});
    }
    return {};
  }

  Places places_;
  const CompileOptions& options_;
  Allocator allocator_;
  std::vector<std::optional<int64_t>> addresses_;  // by buffer
  std::vector<bool> loaded_;                       // by node
  Program program_;
};

// Whether the fast schedule has a result that is larger than its memory, too.
bool never_fits_fast(const Network& network, int64_t most_external_words) {
  const Needs needs = needs_of_outputs(network);
  for (NodeIndex i = 0; i < network.size(); ++i) {
    const NetworkNode& node = network.node(i);
    const int64_t words = needs.rows[static_cast<size_t>(i)].count() * node.shape.columns;
    const bool is_result =
        node.op == NodeOp::Matmul || node.op == NodeOp::Softmax || node.op == NodeOp::Add;
    if (is_result && words > kScratchpadWords) return true;
    if (node.op == NodeOp::Output && words > most_external_words) return true;
  }
  return false;
}

// Whether something is larger than the memory that is to hold it, whatever the scales.
bool never_fits(const Network& network, const Places& places, const CompileOptions& options) {
  int64_t outside = 0;
  for (const NetworkNode& node : network.nodes()) outside += external_words(node);
  const bool is_beyond =
      outside > options.external_words ||
      std::ranges::any_of(places.buffer_words, [](int64_t one) { return one > kScratchpadWords; });
  return is_beyond &&
         (options.schedule == Schedule::Author || never_fits_fast(network, options.external_words));
}

}  // namespace

const Requantizer* Program::requantizer(NodeIndex node, std::optional<int64_t> operand) const {
  const auto found = std::ranges::find_if(requantizers, [&](const Requantizer& one) {
    return one.node == node && one.operand == operand;
  });
  return found == requantizers.end() ? nullptr : &*found;
}

Result<Program> compile(const Network& network, std::span<const Sample> calibration,
                        const CompileOptions& options) {
  if (options.schedule == Schedule::Fast && !options.reuse) {
    return fail("option-invalid", "the fast schedule reuses buffers, and reuse is switched off",
                "schedule", "leave the author's schedule, or let buffers be reused");
  }
  CAPRA_ASSIGN(Places places, place(network));
  // Running the samples through tensors that no memory holds takes long for nothing.
  if (never_fits(network, places, options)) {
    CAPRA_TRY(Emitter(network, {}, places, options).run());
  }
  CAPRA_ASSIGN(ScalePlan plan, plan_scales(network, calibration, options.ranges));
  CAPRA_TRY(check_softmaxes(network, plan));
  std::optional<Program> fast;
  if (options.schedule == Schedule::Fast) {
    Result<Program> found = compile_fast(network, plan, places, options.external_words);
    if (found.ok()) fast = *std::move(found);
  }
  Result<Program> program = Emitter(network, std::move(plan), std::move(places), options).run();
  const bool is_faster =
      fast && (!program.ok() || cost(fast->instructions).total < cost(program->instructions).total);
  if (is_faster) return *std::move(fast);
  return program;
}

}  // namespace capra::ga2
