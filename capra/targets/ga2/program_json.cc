// One function a member.
#include "capra/targets/ga2/program_json.h"

#include <utility>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/isa/fields.h"
#include "capra/targets/ga2/isa/listing.h"

namespace capra::ga2 {
namespace {

template <class T>
Json rows_json(const Matrix<T>& matrix) {
  Json rows = Json::array();
  for (int64_t i = 0; i < matrix.rows; ++i) {
    Json row = Json::array();
    for (const T value : matrix.row(i)) row.push(value);
    rows.push(std::move(row));
  }
  return rows;
}

bool is_argmax(const Program& program, NodeIndex node) {
  return program.network.node(node).op == NodeOp::Argmax;
}

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

// By node; `skip` says which nodes have no value.
template <class Values, class Skip>
Json by_node(const Values& values, Skip skip) {
  Json members = Json::object();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!skip(static_cast<NodeIndex>(i))) members.set(number_text(i), values[i]);
  }
  return members;
}

Json addresses_json(const Program& program) {
  Json members = Json::object();
  for (size_t i = 0; i < program.addresses.size(); ++i) {
    if (program.addresses[i]) members.set(number_text(i), *program.addresses[i]);
  }
  return members;
}

// What a run on a sample tells.
Status add_run(Json& document, const Program& program, const Sample& test) {
  CAPRA_ASSIGN(const Run ran, run(program, test));
  const std::vector<Matrix<int32_t>> integers = interpret(program, test);
  Json integers_json = Json::object();
  for (size_t i = 0; i < integers.size(); ++i) {
    integers_json.set(number_text(i), matrix_json(integers[i]));
  }
  const std::vector<Matrix<double>> real = evaluate(program.network, test);
  Json real_json = Json::object();
  for (const ExternalRegion& one : program.external) {
    if (program.network.node(one.node).op != NodeOp::Output) continue;
    real_json.set(one.name, matrix_json(real[static_cast<size_t>(one.node)]));
  }
  document.set("check_problems", texts_json(stage_problems(program, integers)));
  document.set("node_ints", std::move(integers_json));
  document.set("outputs", outputs_json(ran));
  document.set("float_outputs", std::move(real_json));
  document.set("rel_error", relative_error(program, ran, test));
  return {};
}

}  // namespace

Json matrix_json(const Matrix<double>& matrix) { return rows_json(matrix); }
Json matrix_json(const Matrix<int32_t>& matrix) { return rows_json(matrix); }

Json listing_json(const Program& program) {
  Json lines = Json::array();
  for (const Instruction& one : program.instructions) lines.push(instruction_text(one));
  return lines;
}

Json requantizers_json(const Program& program) {
  Json rows = Json::array();
  for (const Requantizer& one : program.requantizers) {
    Json row = Json::object();
    row.set("node", one.node).set("op", node_op_name(program.network.node(one.node).op));
    row.set("operand", one.operand ? Json(*one.operand) : Json());
    row.set("m", static_cast<int64_t>(one.factor.mantissa));
    row.set("s", static_cast<int64_t>(one.factor.shift)).set("relu", one.relu ? 1 : 0);
    rows.push(std::move(row));
  }
  return rows;
}

Json external_json(const Program& program) {
  Json regions = Json::object();
  for (const ExternalRegion& one : program.external) {
    const NetworkNode& node = program.network.node(one.node);
    Json region = Json::object();
    Json shape = Json::array();
    shape.push(node.shape.rows).push(node.shape.columns);
    region.set("addr", one.address).set("shape", std::move(shape)).set("node", one.node);
    region.set("kind", node_op_name(node.op)).set("words", one.words);
    regions.set(one.name, std::move(region));
  }
  return regions;
}

Json events_json(const Program& program) {
  Json events = Json::array();
  for (const AllocationEvent& one : program.events) {
    Json event = Json::array();
    event.push(one.is_release ? "free" : "alloc").push(one.address).push(one.words);
    events.push(std::move(event));
  }
  return events;
}

Json counters_json(const Counters& counters) {
  Json json = Json::object();
  json.set("total", counters.total).set("mm", counters.matrix).set("dma", counters.transfer);
  json.set("vec", counters.vector).set("n_inst", counters.instructions);
  return json;
}

Json cycles_by_mnemonic(const Program& program) {
  Json cycles = Json::object();
  for_each_record([&]<class T>(std::type_identity<T>) {
    int64_t sum = 0;
    for (const Instruction& one : program.instructions) {
      if (std::holds_alternative<T>(one)) sum += cost(one).total;
    }
    if (sum > 0) cycles.set(std::string(T::kMnemonic), sum);
  });
  return cycles;
}

Json outputs_json(const Run& run) {
  Json outputs = Json::object();
  for (const auto& [name, output] : run.outputs) {
    Json one = Json::object();
    one.set("ints", matrix_json(output.integers)).set("floats", matrix_json(output.values));
    outputs.set(name, std::move(one));
  }
  return outputs;
}

Result<Json> compiled_json(const Program& program, const Result<Program>& without_reuse,
                           const std::optional<Sample>& test) {
  const bool kept = without_reuse.ok();
  const auto all = [](NodeIndex) { return false; };
  const auto indices = [&](NodeIndex node) { return is_argmax(program, node); };
  const Counters counters = cost(program.instructions);
  Json document = Json::object();
  document.set("node_count", program.network.size());
  document.set("ranges", by_node(program.plan.ranges, all));
  document.set("scale", by_node(program.plan.scales, indices));
  document.set("notes", texts_json(program.plan.notes));
  document.set("requant", requantizers_json(program));
  document.set("listing", listing_json(program));
  document.set("instr_count", static_cast<int64_t>(program.instructions.size()));
  document.set("spad_high", program.scratchpad_high);
  document.set("spad_high_noreuse", kept ? Json(without_reuse->scratchpad_high) : Json());
  document.set("noreuse_error", kept ? Json() : Json(without_reuse.error().message));
  document.set("ext_words", program.external_words);
  document.set("ext_layout", external_json(program));
  document.set("alloc_events", events_json(program));
  document.set("cycles", counters.total);
  document.set("counters", counters_json(counters));
  document.set("cycles_by_op", cycles_by_mnemonic(program));
  document.set("listing_noreuse", kept ? listing_json(*without_reuse) : Json());
  document.set("spad_addr_noreuse", kept ? addresses_json(*without_reuse) : Json());
  for (const char* key : {"check_problems", "node_ints", "outputs", "float_outputs", "rel_error"}) {
    document.set(key, Json());
  }
  if (test) CAPRA_TRY(add_run(document, program, *test));
  return document;
}

}  // namespace capra::ga2
