// Parameters in modules and archives: equal data once, other layouts and dtypes made while the
// archive is written, and the schedule attribute.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <string>

#include "capra/base/buffer.h"
#include "capra/interp/interp.h"
#include "capra/ir/schedule.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/attention.h"
#include "capra/passes/passes.h"
#include "capra/passes/policy/annotate_schedule.h"
#include "capra/passes/policy/store_weights.h"
#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/irpa.h"
#include "capra/targets/stablehlo/read/import.h"
#include "capra/targets/stablehlo/read/read.h"

namespace capra::stablehlo {
namespace {

Graph graph_of_text(std::string_view text) {
  return parse_graph(text, all_ops(), "test").value_or_throw();
}

Array floats(std::vector<int64_t> sizes, const std::vector<uint32_t>& bits) {
  Array array = Array::zeros(DType::F32, std::move(sizes));
  for (size_t i = 0; i < bits.size(); ++i) {
    array.mutable_as<float>()[i] = std::bit_cast<float>(bits[i]);
  }
  return array;
}

std::vector<std::string> keys_of(const Module& module) {
  std::vector<std::string> keys;
  for (const Global& global : module.globals) keys.push_back(global.key);
  return keys;
}

// Two parameters of one use each.
Graph two_parameters(const std::string& first, const std::string& second) {
  return graph_of_text("graph @main {\n  %a = parameter {path = \"a\"} : " + first +
                       "\n  %b = parameter {path = \"b\"} : " + second +
                       "\n  %c = exp %a\n  %d = neg %b\n  output %c\n  output %d\n}\n");
}

std::vector<std::string> keys_of_two(const Array& a, const Array& b) {
  const Parameters parameters{{"a", a}, {"b", b}};
  const Graph graph = two_parameters(a.type().text(), b.type().text());
  return keys_of(emit(graph, parameters, {.external_from = 0}).value_or_throw());
}

TEST(EqualParameters, AreOneInTheArchive) {
  const std::vector<std::string> one{"a"};
  const std::vector<std::string> two{"a", "b"};
  const Array data = floats({2, 2}, {0x3F800000, 0x00000000, 0x7FC00000, 0x7F800000});
  const auto bits = [](std::vector<uint32_t> changed) { return floats({2, 2}, changed); };
  EXPECT_EQ(keys_of_two(data, bits({0x3F800000, 0x00000000, 0x7FC00000, 0x7F800000})), one);
  // The last bit of one number; a zero of the other sign; a NaN of another payload; an infinity.
  EXPECT_EQ(keys_of_two(data, bits({0x3F800001, 0x00000000, 0x7FC00000, 0x7F800000})), two);
  EXPECT_EQ(keys_of_two(data, bits({0x3F800000, 0x80000000, 0x7FC00000, 0x7F800000})), two);
  EXPECT_EQ(keys_of_two(data, bits({0x3F800000, 0x00000000, 0x7FC00001, 0x7F800000})), two);
  EXPECT_EQ(keys_of_two(data, bits({0x3F800000, 0x00000000, 0x7FC00000, 0xFF800000})), two);
  // The same bytes under another shape, and under another dtype.
  EXPECT_EQ(keys_of_two(data, data.reshaped({4})), two);
  EXPECT_EQ(keys_of_two(data, data.reshaped({4, 1})), two);
  EXPECT_EQ(keys_of_two(Array::zeros(DType::F32, {2}), Array::zeros(DType::I32, {2})), two);
  EXPECT_EQ(keys_of_two(Array::zeros(DType::F16, {2}), Array::zeros(DType::BF16, {2})), two);
}

TEST(EqualParameters, AreWrittenOnceAndReported) {
  const Array data = floats({2}, {0x3F800000, 0x40000000});
  const Parameters parameters{{"a", data}, {"b", floats({2}, {0x3F800000, 0x40000000})}};
  PassReport report;
  const Module module =
      emit(two_parameters("f32[2]", "f32[2]"), parameters, {.external_from = 0, .report = &report})
          .value_or_throw();
  ASSERT_FALSE(report.rewrites.empty());
  EXPECT_EQ(report.rewrites[0].pass, "common-subexpressions");
  EXPECT_EQ(report.rewrites[0].note, "parameter -> that of %a");
  const std::string path = std::filesystem::temp_directory_path() /
                           ("capra_parameters_" + std::to_string(::getpid()) + ".irpa");
  ASSERT_TRUE(write_irpa(path, module.globals, parameters).ok());
  const std::string bytes = read_file(path).value_or_throw();
  std::filesystem::remove(path);
  const std::string wanted(reinterpret_cast<const char*>(data.data()), data.byte_size());
  const size_t found = bytes.find(wanted);
  ASSERT_NE(found, std::string::npos);
  EXPECT_EQ(bytes.find(wanted, found + 1), std::string::npos);
}

using Names = std::vector<std::string>;

TEST(EqualParameters, KeepTheirKeysInTheArchive) {
  const Array data = floats({2}, {0x3F800000, 0x40000000});
  const Parameters parameters{{"a", data}, {"b", data}, {"c", data}, {"d", floats({2}, {1, 2})}};
  const auto globals_of = [&](std::string_view text) {
    return emit(graph_of_text(text), parameters, {.external_from = 0}).value_or_throw().globals;
  };
  // In the order of paths, whatever that of the graph is.
  const std::vector<Global> globals = globals_of(R"(graph @main {
  %b = parameter {path = "b"} : f32[2]
  %d = parameter {path = "d"} : f32[2]
  %c = parameter {path = "c"} : f32[2]
  %a = parameter {path = "a"} : f32[2]
  %x = add %a %b
  %y = add %c %d
  output %x
  output %y
}
)");
  ASSERT_EQ(globals.size(), 2U);
  EXPECT_EQ(globals[0].key, "b");
  EXPECT_EQ(globals[0].equal_keys, (Names{"a", "c"}));
  EXPECT_EQ(globals[1].key, "d");
  EXPECT_EQ(globals[1].equal_keys, Names{});
  // What no output needs has no say.
  const std::vector<Global> alone = globals_of(R"(graph @main {
  %a = parameter {path = "a"} : f32[2]
  %b = parameter {path = "b"} : f32[2]
  %x = exp %b
  output %a
}
)");
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].equal_keys, Names{});
  // Data in the module have no keys.
  EXPECT_TRUE(
      emit(two_parameters("f32[2]", "f32[2]"), parameters).value_or_throw().globals.empty());
}

TEST(EqualParameters, ThatArePreparedKeepTheirKeysToo) {
  const Array data = floats({2, 2}, {1, 2, 3, 4});
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : bf16[n, 2]
  %a = parameter {path = "a"} : f32[2, 2]
  %b = parameter {path = "b"} : f32[2, 2]
  %c = convert %a {dtype = bf16}
  %d = convert %b {dtype = bf16}
  %y = linear %x %c
  %z = linear %y %d
  output %z
}
)");
  // The second program takes one of them alone, and finds it.
  const Graph second = graph_of_text(R"(graph @main {
  %x = input : bf16[n, 2]
  %b = parameter {path = "b"} : f32[2, 2]
  %d = convert %b {dtype = bf16}
  %y = linear %x %d
  output %y
}
)");
  const Parameters parameters{{"a", data}, {"b", data}};
  const std::vector<Global> whole =
      emit(graph, parameters, {.external_from = 0}).value_or_throw().globals;
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].key, "a@convert(dtype=bf16)");
  EXPECT_EQ(whole[0].equal_keys, Names{"b@convert(dtype=bf16)"});
  EXPECT_EQ(keys_of(emit(second, parameters, {.external_from = 0}).value_or_throw()),
            whole[0].equal_keys);
}

TEST(EqualParameters, OfOneKeyWithAnotherAreRefused) {
  const Array data = floats({2}, {1, 2});
  const Parameters parameters{
      {"a", data}, {"b", data}, {"b@convert(dtype=f64)", Array::zeros(DType::F64, {2})}};
  const Graph graph = graph_of_text(R"tir(graph @main {
  %a = parameter {path = "a"} : f32[2]
  %b = parameter {path = "b"} : f32[2]
  %c = convert %a {dtype = f64}
  %d = convert %b {dtype = f64}
  %e = parameter {path = "b@convert(dtype=f64)"} : f64[2]
  %x = add %c %d
  %y = add %x %e
  output %y
}
)tir");
  EXPECT_EQ(emit(graph, parameters, {.external_from = 0}).error().code, "archive-key-taken");
}

TEST(UnsignedParameters, AreLoadedAsTheirBitsAndReadBackAsTheyAre) {
  Array data = Array::zeros(DType::U8, {2});
  data.set_i64(0, 200);
  data.set_i64(1, 7);
  const Graph graph = graph_of_text(
      "graph @main {\n  %w = parameter {path = \"w\"} : u8[2]\n  %y = div %w %w\n"
      "  %z = convert %w {dtype = i32}\n  output %y\n  output %z\n}\n");
  const Parameters parameters{{"w", data}};
  const Module module = emit(graph, parameters, {.external_from = 0}).value_or_throw();
  ASSERT_EQ(module.globals.size(), 1U);
  EXPECT_EQ(module.globals[0].type, data.type());
  EXPECT_EQ(loaded_type(module.globals[0]).text(), "i8[2]");
  const std::string text = print_module(module);
  EXPECT_NE(text.find("@w = #flow.parameter.named<\"model\"::\"w\"> : tensor<2xi8>"),
            std::string::npos)
      << text;
  const Module read = read_module(text, "test").value_or_throw();
  EXPECT_EQ(print_module(read), text);
  const Graph imported = import_module(read, {}).value_or_throw();
  const std::vector<Array> found = interpret(imported, {}, parameters).value_or_throw();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].i64_at(0), 200);
  EXPECT_EQ(found[1].i64_at(1), 7);
  std::string loads_unsigned = text;
  for (size_t at = 0; (at = loads_unsigned.find("tensor<2xi8>", at)) != std::string::npos;) {
    loads_unsigned.replace(at, 12, "tensor<2xui8>");
  }
  EXPECT_FALSE(read_module(loads_unsigned, "test").ok());
}

PassList legal_then_kn() {
  static const Pass* const kPasses[] = {&kLegalize, &kStoreWeightsKn};
  return kPasses;
}

constexpr std::string_view kLinear = R"(graph @main {
  %x = input : f32[n, 2]
  %w = parameter {path = "dense.weight"} : f32[3, 2]
  %b = parameter {path = "dense.bias"} : f32[3]
  %y = linear %x %w %b @ "dense"
  output %y
}
)";

const Parameters& linear_data() {
  static const Parameters kData{
      {"dense.weight",
       floats({3, 2}, {0x3F800000, 0x40000000, 0x7FC00123, 0x80000000, 0x40A00000, 0x40C00000})},
      {"dense.bias", floats({3}, {0, 0, 0})}};
  return kData;
}

TEST(WeightLayout, ATargetThatAsksForItReadsNoWeightTransposed) {
  const Target kn{.name = "kn",
                  .summary = "Wants weights as [k, n].",
                  .base = &kTarget,
                  .optimizer = {.dag_passes = legal_then_kn}};
  const Graph graph = graph_of_text(kLinear);
  PassReport report;
  const Module module =
      emit(graph, linear_data(), {.target = &kn, .external_from = 0, .report = &report})
          .value_or_throw();
  const std::string text = print_module(module);
  EXPECT_EQ(keys_of(module),
            (std::vector<std::string>{"dense.bias", "dense.weight@permute(axes=[1, 0])"}));
  EXPECT_NE(text.find("util.global private @dense.weight = "
                      "#flow.parameter.named<\"model\"::\"dense.weight@permute(axes=[1, 0])\"> : "
                      "tensor<2x3xf32>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("contracting_dims = [1] x [0]"), std::string::npos) << text;
  EXPECT_EQ(text.find("stablehlo.transpose"), std::string::npos) << text;
  EXPECT_TRUE(
      global_data(module.globals[1], linear_data()).value_or_throw() ==
      floats({2, 3}, {0x3F800000, 0x7FC00123, 0x40A00000, 0x40000000, 0x80000000, 0x40C00000}));
  bool is_said = false;
  for (const Rewrite& rewrite : report.rewrites) is_said |= rewrite.pass == "store-weights-kn";
  EXPECT_TRUE(is_said);
  // The target that does not ask.
  const Module plain = emit(graph, linear_data(), {.external_from = 0}).value_or_throw();
  EXPECT_EQ(keys_of(plain), (std::vector<std::string>{"dense.weight", "dense.bias"}));
  EXPECT_NE(print_module(plain).find("contracting_dims = [1] x [1]"), std::string::npos);
  // In the module itself.
  const std::string inline_text =
      print_module(emit(graph, linear_data(), {.target = &kn}).value_or_throw());
  EXPECT_NE(inline_text.find("tensor<2x3xf32>"), std::string::npos) << inline_text;
  EXPECT_EQ(inline_text.find("stablehlo.transpose"), std::string::npos) << inline_text;
  EXPECT_EQ(emit(graph, {}, {.target = &kn}).error().code, "parameter-missing");
}

TEST(PreparedParameters, AConvertedWeightStandsConvertedInTheArchive) {
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : bf16[n, 2]
  %w = parameter {path = "dense.weight"} : f32[3, 2]
  %c = convert %w {dtype = bf16}
  %y = linear %x %c
  output %y
}
)");
  const Module module = emit(graph, linear_data(), {.external_from = 0}).value_or_throw();
  EXPECT_EQ(keys_of(module), (std::vector<std::string>{"dense.weight@convert(dtype=bf16)"}));
  EXPECT_EQ(module.globals[0].type.text(), "bf16[3, 2]");
  EXPECT_EQ(global_data(module.globals[0], linear_data()).value_or_throw().byte_size(), 12U);
  const Result<Module> missing = emit(graph, {}, {.external_from = 0});
  ASSERT_TRUE(missing.ok());  // data are read when they are written
  EXPECT_EQ(global_data(missing->globals[0], {}).error().code, "parameter-missing");
}

PassList hints_then_legal() {
  static const Pass kHints = annotate_schedule(
      parse_schedule_defaults(std::vector<std::string>{"attention=heads", "matmul=rows"}, all_ops())
          .value_or_throw());
  static const Pass* const kPasses[] = {&kHints, &kLegalize};
  return kPasses;
}

constexpr std::string_view kAttention = R"(graph @main {
  %q = input : f32[4, 2, 8]
  %a = attention %q %q %q @ "encoder.layer.0" HINT
  %b = attention %a %a %a @ "encoder.layer.1"
  output %b
}
)";

Graph attention_with(std::string_view hint) {
  std::string text(kAttention);
  return graph_of_text(text.replace(text.find("HINT"), 4, hint));
}

std::string first_line(const Module& module) {
  const std::string text = print_module(module);
  return text.substr(0, text.find('\n'));
}

TEST(ScheduleAttribute, HoldsTheHintsOfTheGraph) {
  const Graph hinted = attention_with("!{schedule = \"parallel(batch)\"}");
  EXPECT_EQ(first_line(emit(hinted, {}).value_or_throw()),
            "module attributes {skainet.schedule = {encoder.layer.0 = {attention = "
            "\"parallel(batch)\"}}} {");
  EXPECT_EQ(first_line(emit(attention_with(""), {}).value_or_throw()), "module {");
  // A kept op is a composite of the same name; the attribute stays.
  EXPECT_EQ(first_line(emit(hinted, {}, {.keep_fused = {"attention"}}).value_or_throw()),
            first_line(emit(hinted, {}).value_or_throw()));
}

TEST(ScheduleAttribute, HoldsTheHintsThatATargetGives) {
  const Target hinting{.name = "hinting",
                       .summary = "Has hints of its own.",
                       .base = &kTarget,
                       .optimizer = {.dag_passes = hints_then_legal}};
  const Graph graph = attention_with("!{schedule = \"parallel(batch)\"}");
  EXPECT_EQ(first_line(emit(graph, {}, {.target = &hinting}).value_or_throw()),
            "module attributes {skainet.schedule = {encoder.layer.0 = {attention = "
            "\"parallel(batch)\"}, encoder.layer.1 = {attention = \"parallel(heads)\"}}} {");
}

// A pass of another author that has the name of the one that gives hints.
PassList own_notes() {
  static const Pass kOwn{"annotate-schedule", "Notes of its own.", NumericEffect::Exact,
                         [](const Graph& graph, PassContext&) -> Result<Graph> {
                           Graph noted = graph;
                           for (NodeId id = 0; id < noted.size(); ++id) {
                             Node& node = noted.node(id);
                             if (node.op != &capra::kAttention || !node.notes.empty()) continue;
                             node.notes.push_back({std::string(kScheduleNote), "by moonlight"});
                           }
                           return noted;
                         }};
  static const Pass* const kPasses[] = {&kOwn, &kLegalize};
  return kPasses;
}

TEST(ScheduleAttribute, IsNotTakenFromAPassThatOnlyHasTheName) {
  const Target noting{.name = "noting",
                      .summary = "Has notes of its own.",
                      .base = &kTarget,
                      .optimizer = {.dag_passes = own_notes}};
  const Result<Module> module = emit(attention_with(""), {}, {.target = &noting});
  ASSERT_TRUE(module.ok()) << to_text(module.error());
  EXPECT_EQ(first_line(*module), "module {");
}

// Labels that are no identifiers stand in quotes.
TEST(ScheduleAttribute, ReadsBack) {
  const Graph graph = graph_of_text(R"tir(graph @main {
  %q = input : f32[4, 2, 8]
  %a = attention %q %q %q !{schedule = "parallel(batch, heads)"}
  %b = attention %a %a %a @ "encoder.layer.1" !{schedule = "parallel(heads)"}
  output %b
}
)tir");
  const std::string text = print_module(emit(graph, {}).value_or_throw());
  EXPECT_TRUE(text.starts_with("module attributes {skainet.schedule = {\"%a\" = {attention = "))
      << text.substr(0, 100);
  EXPECT_EQ(print_module(read_module(text, "test").value_or_throw()), text);
}

TEST(ScheduleAttribute, RefusesAHintThatTheOpDoesNotAllow) {
  const Result<Module> refused = emit(attention_with("!{schedule = \"parallel(rows)\"}"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "schedule-invalid");
}

}  // namespace
}  // namespace capra::stablehlo
