// Writes what outside judges need of the judged models: NAME.tir, NAME.safetensors with the
// weights, NAME.data.safetensors with the inputs and the oracle's `result`.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "capra/base/new_file.h"
#include "capra/interp/interp.h"
#include "capra/io/safetensors.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "tests/models/judged_models.h"

namespace capra {
namespace {

void write(const std::string& path, const testing::JudgedModel& model) {
  std::vector<Array> inputs;
  for (const NodeId id : model.graph.inputs()) {
    inputs.push_back(model.inputs.at(model.graph.node(id).attrs_as<InputAttrs>().name));
  }
  std::map<std::string, Array> data = model.inputs;
  data["result"] = interpret(model.graph, inputs, model.parameters).value_or_throw()[0];
  write_file(path + ".tir", print_graph(model.graph)).or_throw();
  write_safetensors(path + ".safetensors", {model.parameters.begin(), model.parameters.end()})
      .value_or_throw();
  write_safetensors(path + ".data.safetensors", data).value_or_throw();
}

}  // namespace
}  // namespace capra

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: model_cases FOLDER\n", stderr);
    return 2;
  }
  try {
    const std::string folder = argv[1];
    std::filesystem::create_directories(folder);
    capra::write(folder + "/decision_head", capra::testing::decision_head());
    capra::write(folder + "/two_segments", capra::testing::two_segments());
    return 0;
  } catch (const capra::Error& error) {
    std::fputs((capra::to_text(error.diagnostic()) + "\n").c_str(), stderr);
    return 1;
  }
}
