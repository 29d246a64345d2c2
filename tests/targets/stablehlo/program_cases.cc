// Writes what outside judges need of the StableHLO target, for each op three files in one folder: a
// module with the calls that the record allows, static, with dynamic dims and as composites; their
// operands and the oracle's results in double precision; and in JSON which case is which, and which
// calls the target refuses. tests/targets/stablehlo/op_cases.py reads them.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <set>
#include <string>

#include "capra/io/json.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/shape_rules.h"
#include "capra/targets/stablehlo/emit.h"
#include "tests/judges/judged_module.h"
#include "tests/ops/conformance_calls.h"
#include "tools/golden/execute.h"

namespace capra {
namespace {

// Extents above 1 as symbols of their own: of all axes, or of the first ones alone.
Call with_symbols(Call call, bool all_axes) {
  for (TensorType& type : call.types) {
    const int64_t axes = all_axes ? type.shape.rank() : std::min<int64_t>(type.shape.rank(), 1);
    for (int64_t axis = 0; axis < axes; ++axis) {
      const int64_t size = type.shape[axis].size();
      if (size > 1) type.shape[axis] = Dim(fmt::format("n{}", size));
    }
  }
  return call;
}

// All modules of one op in one, and the data of its calls.
class Cases {
 public:
  // `dtype` is the one that the op was tried on.
  void add(const Call& call, DType dtype, bool as_composite, bool as_dynamic_composite) {
    const Graph graph = graph_of(call).value_or_throw();
    golden::RunData data =
        golden::seeded_data(graph, given_data(call), {}, kind(call), 20).value_or_throw();
    flush_subnormals(data);
    const Array result = golden::run_on_oracle(graph, data).value_or_throw().at("result");
    scale_ = result;
    if (call.op->accuracy.note == kOfMagnitudes) {
      scale_ = golden::run_on_oracle(graph, golden::magnitudes(data)).value_or_throw().at("result");
    }
    dtype_ = dtype;
    call_ = text_of(call);
    const std::vector<std::string> kept = {std::string(call.op->name)};
    emit_form("static", graph, {}, data, result);
    if (as_composite) emit_form("composite", graph, kept, data, result);
    // With all dims dynamic; where that is refused, with the first ones.
    for (const bool all_axes : {true, false}) {
      const Result<Graph> dynamic = graph_of(with_symbols(call, all_axes));
      if (!dynamic.ok() || *dynamic == graph) continue;
      const bool written = emit_form("dynamic", *dynamic, {}, data, result);
      if (as_dynamic_composite) emit_form("dynamic composite", *dynamic, kept, data, result);
      if (written) break;
    }
  }

  Status write(const std::string& folder, std::string_view name) {
    Json document = Json::object();
    document.set("cases", std::move(cases_)).set("refused", std::move(refused_));
    return module_.write(fmt::format("{}/{}", folder, name), document);
  }
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

  // False where the target refuses the call.
  bool emit_form(std::string_view form, const Graph& graph, std::vector<std::string> keep_fused,
                 const golden::RunData& data, const Array& result) {
    Json row = Json::object();
    row.set("dtype", dtype_name(dtype_)).set("form", form).set("call", call_);
    Result<stablehlo::Module> module =
        stablehlo::emit(graph, {}, {.keep_fused = std::move(keep_fused)});
    if (!module.ok()) {
      refused_.push(row.set("error", to_text(module.error())));
      return false;
    }
    const std::string name = fmt::format("case{}", count_++);
    module_.add(std::move(*module), name);
    Json operands = Json::array();
    for (const NodeId id : graph.inputs()) {
      const std::string input = graph.node(id).attrs_as<InputAttrs>().name;
      module_.add_tensor(name + "." + input, data.inputs.at(input));
      operands.push(name + "." + input);
    }
    module_.add_tensor(name + ".result", result);
    module_.add_tensor(name + ".scale", scale_);
    row.set("name", name).set("operands", std::move(operands));
    row.set("result", dtype_name(graph.node(graph.outputs()[0]).type.dtype));
    cases_.push(std::move(row));
    return true;
  }

  testing::JudgedModule module_;
  Json cases_ = Json::array();
  Json refused_ = Json::array();
  DType dtype_ = DType::F32;  ///< of the current call
  std::string call_;          ///< the current call, in words
  Array scale_;               ///< what bounds of the current call are relative to
  size_t count_ = 0;
};

// Adds an op's calls, each once. Without `every`, where one shape has more than two choices of
// attributes they take turns, and stand together at one shape; and each choice, with each number of
// operands, is kept as a composite once, as a composite's body is the inline form (emit_test.cc).
class Choice {
 public:
  Choice(Cases& cases, const OpDef& op, bool every) : cases_(cases), op_(op), every_(every) {}

  void add(DType dtype) {
    const std::vector<Call> calls = calls_of(op_, dtype);
    composites_.clear();
    size_t turn = 0;
    for (size_t begin = 0; begin < calls.size(); ++turn) {
      size_t end = begin;
      while (end < calls.size() && calls[end].types == calls[begin].types) ++end;
      const size_t count = end - begin;
      const bool all = every_ || count <= 2 || is_apart(calls[begin]);
      for (size_t i = begin; i < end; ++i) {
        if (all || i - begin == turn % count) {
          add_call(calls[i], dtype);
        }
      }
      begin = end;
    }
  }

 private:
  static bool is_apart(const Call& call) {
    return call.types.empty() || call.types[0].shape == Shape{3, 37};
  }

  void add_call(const Call& call, DType dtype) {
    if (!seen_.insert(text_of(call)).second) return;
    const Graph graph = graph_of(call).value_or_throw();
    if (call.types.empty()) dtype = graph.node(graph.outputs()[0]).type.dtype;
    // A constant is data, for which no compiler has a kernel.
    const bool can_be_kept = op_.name != "constant";
    const bool is_small = !call.types.empty() && call.types[0].shape.rank() < 2;
    const std::string key = fmt::format("{} {}", call.types.size(), call.attrs);
    const bool as_composite = every_ || (!is_small && composites_.insert(key).second);
    const bool kept = can_be_kept && as_composite;
    cases_.add(call, dtype, kept, kept && (every_ || dtype == DType::F32));
  }

  Cases& cases_;
  const OpDef& op_;
  bool every_;
  std::set<std::string> seen_;        ///< calls, in words
  std::set<std::string> composites_;  ///< choices of attributes on the current dtype
};

void run(const std::string& folder, bool every) {
  testing::begin_judged_folder(folder).or_throw();
  size_t count = 0;
  for (const OpDef* op : all_ops()) {
    Cases cases;
    Choice choice(cases, *op, every);
    for (const DType dtype : all_dtypes()) choice.add(dtype);
    cases.write(folder, op->name).or_throw();
    count += cases.count();
  }
  fmt::print("{} cases\n", count);
}

}  // namespace
}  // namespace capra

int main(int argc, char** argv) {
  const bool every = argc == 3 && std::string_view(argv[2]) == "--every";
  if (argc != (every ? 3 : 2)) {
    std::fputs("usage: program_cases FOLDER [--every]\n", stderr);
    return 2;
  }
  try {
    capra::run(argv[1], every);
    return 0;
  } catch (const capra::Error& error) {
    std::fputs((capra::to_text(error.diagnostic()) + "\n").c_str(), stderr);
    return 1;
  }
}
