// Writes what outside judges need of the StableHLO target: for each op one module with every call
// that the record allows, static, with dynamic dims and as a composite, and a safetensors file with
// the operands and the oracle's result in double precision. tests/targets/stablehlo/judge.py reads
// them.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "capra/base/new_file.h"
#include "capra/io/safetensors.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/shape_rules.h"
#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/iree_flags.h"
#include "tests/ops/conformance_calls.h"
#include "tools/golden/execute.h"

namespace capra {
namespace {

// Every extent above 1 as a symbol of its own.
Call with_symbols(Call call) {
  for (TensorType& type : call.types) {
    for (int64_t axis = 0; axis < type.shape.rank(); ++axis) {
      const int64_t size = type.shape[axis].size();
      if (size > 1) type.shape[axis] = Dim(fmt::format("n{}", size));
    }
  }
  return call;
}

// All modules of one op in one, and the data of its calls.
class Cases {
 public:
  void add(const Call& call) {
    const Result<Graph> graph = graph_of(call);
    CAPRA_CHECK(graph.ok());
    // No index fits an empty axis.
    if (call.op->name == "gather" && call.types[0].shape[0] == Dim(0)) return;
    golden::RunData data =
        golden::seeded_data(*graph, given_data(call), {}, kind(call), 20).value_or_throw();
    flush_subnormals(data);
    const Array result = golden::run_on_oracle(*graph, data).value_or_throw().at("result");
    scale_ = result;
    if (call.op->accuracy.note == kOfMagnitudes) {
      scale_ =
          golden::run_on_oracle(*graph, golden::magnitudes(data)).value_or_throw().at("result");
    }
    emit_form(*graph, {}, data, result);
    emit_form(*graph, {.keep_fused = {std::string(call.op->name)}}, data, result);
    const Result<Graph> dynamic = graph_of(with_symbols(call));
    if (dynamic.ok() && *dynamic != *graph) emit_form(*dynamic, {}, data, result);
  }

  Status write(const std::string& folder, std::string_view name) const {
    CAPRA_TRY(
        write_file(fmt::format("{}/{}.mlir", folder, name), stablehlo::print_module(module_)));
    return write_safetensors(fmt::format("{}/{}.safetensors", folder, name), tensors_, notes_);
  }
  size_t refused() const { return refused_; }
  size_t count() const { return count_; }

 private:
  // Beyond the largest numbers and behind a mask, compilers and the oracle may part.
  static golden::DataKind kind(const Call& call) {
    const bool plain = call.op->name == "attention" || call.op->decompose != nullptr;
    return plain ? golden::DataKind::Finite : golden::DataKind::Special;
  }

  // The runtime that judges computes with them as zeros.
  static void flush_subnormals(golden::RunData& data) {
    for (auto& [name, array] : data.inputs) {
      if (!is_float(array.dtype()) || array.dtype() == DType::F64) continue;
      for (int64_t i = 0; i < array.elements(); ++i) {
        if (std::abs(array.f64_at(i)) < 0x1p-126) array.set(i, std::copysign(0.0, array.f64_at(i)));
      }
    }
  }

  void emit_form(const Graph& graph, stablehlo::EmitOptions options, const golden::RunData& data,
                 const Array& result) {
    if (!options.keep_fused.empty() && options.keep_fused[0] == "constant") return;
    Result<stablehlo::Module> module = stablehlo::emit(graph, {}, options);
    if (!module.ok()) {
      CAPRA_CHECK(module.error().code == "op-not-legal" || module.error().code == "symbol-unbound");
      ++refused_;
      return;
    }
    const std::string name = fmt::format("case{}", count_++);
    for (stablehlo::Function& function : module->functions) {
      rename(function, name);
      module_.functions.push_back(std::move(function));
    }
    for (const NodeId id : graph.inputs()) {
      const std::string input = graph.node(id).attrs_as<InputAttrs>().name;
      tensors_.emplace(name + "." + input, data.inputs.at(input));
    }
    tensors_.emplace(name + ".result", result);
    tensors_.emplace(name + ".scale", scale_);
    notes_.emplace(name, dtype_name(graph.node(graph.outputs()[0]).type.dtype));
  }

  // Bodies have one name in many modules.
  static void rename(stablehlo::Function& function, const std::string& name) {
    function.name = function.is_private ? name + "_" + function.name : name;
    for (stablehlo::Operation& operation : function.operations) {
      for (stablehlo::NamedAttribute& attribute : operation.attributes) {
        auto* symbol = std::get_if<stablehlo::Symbol>(&attribute.value);
        if (symbol != nullptr) symbol->name = name + "_" + symbol->name;
      }
    }
  }

  stablehlo::Module module_;
  std::map<std::string, Array> tensors_;
  std::map<std::string, std::string> notes_;  ///< case: dtype of the result
  Array scale_;                               ///< what bounds of the current call are relative to
  size_t count_ = 0;
  size_t refused_ = 0;
};

int run(const std::string& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/iree.flags",
             fmt::format("{}\n", fmt::join(stablehlo::iree_compile_flags(), "\n")))
      .or_throw();
  for (const OpDef* op : all_ops()) {
    Cases cases;
    for (const DType dtype : all_dtypes()) {
      for (const Call& call : calls_of(*op, dtype)) cases.add(call);
    }
    cases.write(folder, op->name).or_throw();
    fmt::print("{}: {} cases, {} refused\n", op->name, cases.count(), cases.refused());
  }
  return 0;
}

}  // namespace
}  // namespace capra

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: program_cases FOLDER\n", stderr);
    return 2;
  }
  try {
    return capra::run(argv[1]);
  } catch (const capra::Error& error) {
    std::fputs((capra::to_text(error.diagnostic()) + "\n").c_str(), stderr);
    return 1;
  }
}
