// Every record is complete, its examples obey its shape rule, and its decomposition has the type
// that the shape rule says, for every float dtype and for symbolic extents.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "capra/ir/graph.h"
#include "capra/ir/tape.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/arithmetic.h"

namespace capra {
namespace {

constexpr DType kFloats[] = {DType::F64, DType::F32, DType::F16, DType::BF16};

struct ParsedExample {
  std::vector<TensorType> types;
  std::vector<bool> absent;
  Attrs attrs;
  TensorType result;
};

ParsedExample parsed(const OpDef& op, const Example& example) {
  ParsedExample out;
  for (const std::string_view text : example.operands) {
    out.absent.push_back(text == "_");
    out.types.push_back(text == "_" ? TensorType() : parse_array(text).value_or_throw().type());
  }
  out.attrs = parse_attrs(example.attrs, op.attrs).value_or_throw();
  out.result = parse_array(example.result).value_or_throw().type();
  return out;
}

Result<TensorType> inferred(const OpDef& op, const ParsedExample& example) {
  std::vector<const TensorType*> refs;
  for (size_t i = 0; i < example.types.size(); ++i) {
    refs.push_back(example.absent[i] ? nullptr : &example.types[i]);
  }
  return infer_type(op, refs, example.attrs);
}

// The decomposition on these types, and the type it has.
TensorType traced_type(const OpDef& op, const ParsedExample& example) {
  const Context context = TraceSink::begin("trace");
  auto& sink = static_cast<TraceSink&>(context.sink());
  std::vector<Tensor> operands;
  for (size_t i = 0; i < example.types.size(); ++i) {
    operands.push_back(example.absent[i]
                           ? Tensor()
                           : sink.input(context, "x" + std::to_string(i), example.types[i]));
  }
  const Tensor result = op.decompose(operands, example.attrs);
  sink.output(result, "result");
  const Status verified = verify(build_graph(sink.take_tape()));
  EXPECT_TRUE(verified.ok()) << op.name << ": " << to_text(verified.error());
  return result.type();
}

TEST(Records, ListIsSortedAndWithoutDoubles) {
  const OpSet ops = all_ops();
  EXPECT_TRUE(std::ranges::is_sorted(ops, {}, &OpDef::name));
  EXPECT_EQ(std::ranges::adjacent_find(ops, {}, &OpDef::name), ops.end());
  for (const OpDef* op : ops) EXPECT_EQ(find_op(ops, op->name), op);
  EXPECT_EQ(find_op(ops, "no_such_op"), nullptr);
}

TEST(Records, AreComplete) {
  for (const OpDef* op : all_ops()) {
    SCOPED_TRACE(op->name);
    EXPECT_FALSE(op->formula.empty());
    EXPECT_TRUE(op->summary.ends_with('.')) << op->summary;
    EXPECT_TRUE(op->prose.ends_with('.')) << op->prose;
    EXPECT_NE(op->infer, nullptr);
    EXPECT_GE(op->examples.size(), 3U);
    EXPECT_GE(op->accuracy.max_abs, 0);
    EXPECT_GE(op->accuracy.max_ulp, 0);
    for (const Operand& operand : op->operands) EXPECT_FALSE(operand.doc.empty()) << operand.name;
    for (const AttrField& field : op->attrs.fields) EXPECT_FALSE(field.doc.empty()) << field.name;
    EXPECT_EQ(op->composite.version, op->composite.name.empty() ? 0 : 1);
    for (const Example& example : op->examples) EXPECT_FALSE(example.source.empty());
  }
}

TEST(Records, CompositeNamesAreUsedOnce) {
  std::map<std::string_view, std::string_view> owners;
  for (const OpDef* op : all_ops()) {
    if (op->composite.name.empty()) continue;
    const auto [owner, fresh] = owners.emplace(op->composite.name, op->name);
    EXPECT_TRUE(fresh) << op->composite.name << " belongs to " << owner->second;
  }
  // A wire contract with other compilers.
  EXPECT_EQ(owners["skainet.gelu"], "gelu");
  EXPECT_EQ(owners["skainet.erf"], "erf");
}

TEST(Records, ShapeRulesAgreeWithExamples) {
  for (const OpDef* op : all_ops()) {
    for (const Example& example : op->examples) {
      const ParsedExample parts = parsed(*op, example);
      const Result<TensorType> type = inferred(*op, parts);
      ASSERT_TRUE(type.ok()) << op->name << ": " << to_text(type.error());
      EXPECT_EQ(*type, parts.result) << op->name << ": " << type->text();
    }
  }
}

TEST(Records, DecompositionsHaveTheInferredType) {
  int checked = 0;
  for (const OpDef* op : all_ops()) {
    if (op->decompose == nullptr) continue;
    for (const Example& example : op->examples) {
      ParsedExample parts = parsed(*op, example);
      const std::vector<TensorType> original = parts.types;
      for (const DType dtype : kFloats) {
        for (size_t i = 0; i < parts.types.size(); ++i) {
          if (is_float(original[i].dtype)) parts.types[i].dtype = dtype;
        }
        const Result<TensorType> type = inferred(*op, parts);
        ASSERT_TRUE(type.ok()) << op->name << ": " << to_text(type.error());
        EXPECT_EQ(traced_type(*op, parts), *type) << op->name << " on " << dtype_name(dtype);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

// Rows are what batches grow by: the first extent of every operand that shares it may be a symbol.
TEST(Records, DecompositionsTakeSymbolicRows) {
  int checked = 0;
  for (const OpDef* op : all_ops()) {
    if (op->decompose == nullptr) continue;
    for (const Example& example : op->examples) {
      ParsedExample parts = parsed(*op, example);
      if (parts.types.empty() || parts.types[0].shape.rank() < 2) continue;
      const Dim rows = parts.types[0].shape[0];
      for (TensorType& type : parts.types) {
        if (type.shape.rank() >= 2 && type.shape[0] == rows) type.shape[0] = Dim("rows");
      }
      const Result<TensorType> type = inferred(*op, parts);
      if (!type.ok()) continue;  // the example ties the extent to a number
      EXPECT_EQ(traced_type(*op, parts), *type) << op->name;
      ++checked;
    }
  }
  EXPECT_GT(checked, 10);
}

TEST(Records, WrongCountsAreRefused) {
  for (const OpDef* op : all_ops()) {
    const bool variadic = !op->operands.empty() && op->operands.back().arity == Arity::Variadic;
    const std::vector<TensorType> many(op->operands.size() + 1, TensorType{DType::F32, {}});
    std::vector<const TensorType*> refs;
    for (const TensorType& type : many) refs.push_back(&type);
    if (!variadic) {
      const Result<TensorType> type = infer_type(*op, refs, op->attrs.defaults());
      ASSERT_FALSE(type.ok()) << op->name;
      EXPECT_EQ(type.error().code, "operand-count") << op->name;
    }
    if (!op->operands.empty()) {
      const Result<TensorType> type = infer_type(*op, {}, op->attrs.defaults());
      ASSERT_FALSE(type.ok()) << op->name;
      EXPECT_EQ(type.error().code, "operand-count") << op->name;
    }
  }
}

TEST(Arithmetic, AScalarIsAConstantOfTheTensorsDtypeRoundedOnce) {
  const Context context = TraceSink::begin("scalars");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F16, {2}});
  const Tensor y = 0.1 - x;
  sink.output(y, "y");
  // 0.1 rounded once to binary16 is 0x2e66 (0.0999755859375).
  EXPECT_EQ(print_graph(build_graph(sink.take_tape())),
            "graph @scalars {\n"
            "  %x = input {name = \"x\"} : f16[2]\n"
            "  %1 = constant {value = f16 0.1} : f16[]\n"
            "  %2 = sub %1 %x : f16[2]\n"
            "  output %2 {name = \"y\"}\n"
            "}\n");
  const Array tenth = parse_array("f16 0.1").value_or_throw();
  EXPECT_EQ(tenth.as<uint16_t>()[0], 0x2e66);
}

TEST(Arithmetic, TensorsOfTwoContextsAreRefused) {
  const Context one = TraceSink::begin("one");
  const Context two = TraceSink::begin("two");
  const Tensor a = static_cast<TraceSink&>(one.sink()).input(one, "a", {DType::F32, {2}});
  const Tensor b = static_cast<TraceSink&>(two.sink()).input(two, "b", {DType::F32, {2}});
  try {
    static_cast<void>(a + b);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().code, "context-mixed");
  }
}

}  // namespace
}  // namespace capra
