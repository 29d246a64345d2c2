// Memory images, outputs, and how far they are from real numbers.
#include "capra/targets/ga2/sim/run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace capra::ga2 {
namespace {

bool holds_indices(const Program& program, NodeIndex output) {
  const NodeIndex source = program.network.node(output).operands[0];
  return program.network.node(source).op == NodeOp::Argmax;
}

Output output_at(const Program& program, const ExternalRegion& region,
                 std::span<const uint32_t> external) {
  const Extents shape = program.network.node(region.node).shape;
  const bool indices = holds_indices(program, region.node);
  const double scale = indices ? 1 : program.scale(region.node);
  Output output{Matrix<int32_t>(shape.rows, shape.columns),
                Matrix<double>(shape.rows, shape.columns)};
  for (size_t i = 0; i < output.integers.values.size(); ++i) {
    const uint32_t word = external[static_cast<size_t>(region.address) + i];
    const int32_t integer = indices ? static_cast<int32_t>(word) : as_s8(word);
    output.integers.values[i] = integer;
    output.values.values[i] = integer * scale;
  }
  return output;
}

}  // namespace

Sample zero_sample(const Network& network) {
  Sample zeros;
  for (const NetworkNode& node : network.nodes()) {
    if (node.op != NodeOp::Input) continue;
    zeros[node.name] = Matrix<double>(node.shape.rows, node.shape.columns);
  }
  return zeros;
}

Result<std::vector<uint32_t>> external_image(const Program& program, const Sample& sample) {
  CAPRA_TRY(check_sample(program.network, sample, "input"));
  std::vector<uint32_t> image(static_cast<size_t>(program.external_words), 0);
  for (const ExternalRegion& region : program.external) {
    const NetworkNode& node = program.network.node(region.node);
    if (node.op == NodeOp::Output) continue;
    if (!region.contents.empty()) {
      std::ranges::copy(region.contents, image.begin() + region.address);
      continue;
    }
    const Matrix<double>& values =
        node.op == NodeOp::Weight ? node.weights : sample.at(region.name);
    const bool packed = node.op == NodeOp::Weight && node.bits == 4;
    for (size_t i = 0; i < values.values.size(); ++i) {
      const auto level =
          static_cast<uint32_t>(quantize(values.values[i], program.scale(region.node)));
      const size_t first = static_cast<size_t>(region.address);
      if (packed) {
        image[first + i / kPackedValues] |= (level & 0xf) << (4 * (i % kPackedValues));
      } else {
        image[first + i] = level;
      }
    }
  }
  return image;
}

Result<Run> run(const Program& program, const Sample& sample, const Machine::Observer& observe) {
  CAPRA_ASSIGN(std::vector<uint32_t> image, external_image(program, sample));
  Machine machine(std::move(image));
  CAPRA_TRY(machine.run(program.instructions, observe));
  Run run;
  for (const ExternalRegion& region : program.external) {
    if (program.network.node(region.node).op != NodeOp::Output) continue;
    run.outputs[region.name] = output_at(program, region, machine.external());
  }
  run.counters = machine.counters();
  run.scratchpad.assign(machine.scratchpad().begin(), machine.scratchpad().end());
  return run;
}

namespace {

// The norm of the difference over the norm of `wanted`, or the norm of the difference where that is
// 0; infinite where a value is not finite. Powers of two scale the values, so that no square is
// infinite or 0; they round nothing.
double norm_ratio(std::span<const double> found, std::span<const double> wanted) {
  double largest = 0;
  for (const std::span<const double> values : {found, wanted}) {
    for (const double value : values) {
      if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, std::fabs(value));
    }
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double one = std::ldexp(wanted[i], -exponent);
    const double off = std::ldexp(found[i], -exponent) - one;
    difference += off * off;
    norm += one * one;
  }
  return norm > 0 ? std::sqrt(difference) / std::sqrt(norm)
                  : std::ldexp(std::sqrt(difference), exponent);
}

}  // namespace

double relative_error(const Program& program, const Run& run, const Sample& sample) {
  const std::vector<Matrix<double>> real = evaluate(program.network, sample);
  double most = 0;
  for (const ExternalRegion& region : program.external) {
    const NetworkNode& node = program.network.node(region.node);
    if (node.op != NodeOp::Output || holds_indices(program, region.node)) continue;
    most = std::max(most, norm_ratio(run.outputs.at(region.name).values.values,
                                     real[static_cast<size_t>(region.node)].values));
  }
  return most;
}

}  // namespace capra::ga2
