// The operator pages: complete, linked, and true to records and tables.
#include "capra/ops/op_docs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "capra/base/buffer.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/constant.h"
#include "capra/ops/gelu.h"
#include "capra/ops/logical_and.h"
#include "capra/ops/mul.h"
#include "capra/ops/select.h"

namespace capra {
namespace {

constexpr OpRow kMulRow{.op = &kMul};
constexpr OpRow kGeluRow{.op = &kGelu,
                         .accuracy = {.max_abs = 0.001},
                         .accuracy_reason = "read from a table of 1024 steps"};
constexpr const OpRow* kRows[] = {&kGeluRow, &kMulRow};
constexpr OpTable kTable(kRows);
const DocTarget kTargets[] = {{"chip", &kTable}, {"reference", nullptr}};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string page(std::string_view path) {
  for (const DocPage& candidate : op_pages(all_ops(), kTargets)) {
    if (candidate.path == path) return candidate.text;
  }
  ADD_FAILURE() << "there is no page " << path;
  return {};
}

TEST(OpDocs, EveryOpHasAPageThatTheMatrixLinks) {
  const std::vector<DocPage> pages = op_pages(all_ops(), kTargets);
  EXPECT_EQ(pages.size(), all_ops().size() + 1);
  const std::string matrix = page("ops.md");
  for (const OpDef* op : all_ops()) {
    const std::string name(op->name);
    EXPECT_TRUE(contains(matrix, "[" + name + "](ops/" + name + ".md)")) << name;
    const std::string text = page("ops/" + name + ".md");
    EXPECT_TRUE(text.starts_with("# " + name + "\n")) << name;
    for (const Example& example : op->examples) EXPECT_TRUE(contains(text, example.result)) << name;
    for (const AttrField& field : op->attrs.fields) {
      EXPECT_TRUE(contains(text, "| `" + std::string(field.name) + "` |")) << name;
    }
  }
}

TEST(OpDocs, SupportComesFromTheTable) {
  const std::string matrix = page("ops.md");
  EXPECT_TRUE(
      contains(matrix, "| op | | kind | dtypes | decomposes to | composite | chip | reference |"));
  EXPECT_TRUE(contains(matrix,
                       "Product of two tensors, element by element. | primitive | numbers |  |  | "
                       "native | as defined |"));
  EXPECT_TRUE(contains(matrix,
                       "Gaussian error linear unit. | composite | floats | mul, erf, add | "
                       "`skainet.gelu` 1 | native | as defined |"));
  EXPECT_TRUE(contains(
      matrix,
      "x sigmoid(x), also called swish. | composite | floats | sigmoid, mul | `capra.silu` 1 | "
      "decomposed | as defined |"));
  EXPECT_TRUE(
      contains(matrix, "Sum of two tensors. | primitive | numbers |  |  | refused | as defined |"));
}

TEST(OpDocs, DtypesAreThoseTheRecordAllows) {
  EXPECT_EQ(op_dtypes(kGelu),
            (std::vector<DType>{DType::F64, DType::F32, DType::F16, DType::BF16}));
  EXPECT_EQ(op_dtypes(kLogicalAnd), std::vector<DType>{DType::Bool});
  EXPECT_EQ(op_dtypes(kMul).size(), all_dtypes().size() - 1);
  EXPECT_EQ(op_dtypes(kSelect).size(), all_dtypes().size()) << "the condition keeps its own";
  EXPECT_EQ(op_dtypes(kConstant).size(), all_dtypes().size());
  for (const OpDef* op : all_ops()) EXPECT_FALSE(op_dtypes(*op).empty()) << op->name;
}

TEST(OpDocs, ARowForSomeTypesIsNativeOnThoseAlone) {
  constexpr OpRow kWideMul{.op = &kMul,
                           .takes = [](TypeRefs, const Attrs&, const TensorType& result) {
                             return result.dtype == DType::F32;
                           }};
  const OpRow* const rows[] = {&kWideMul};
  const OpTable table(rows);
  const DocTarget target{"part", &table,
                         [](const Graph& call) { return call.node(0).type.dtype != DType::F64; }};
  const std::string text = op_pages(all_ops(), {&target, 1}).front().text;
  EXPECT_TRUE(contains(text, "| native: f32; refused: integers, f64, f16, bf16 |")) << text;
}

TEST(OpDocs, ConformanceStandsInTheMatrixAndOnThePage) {
  const Conformance conformance{
      .judge = "judge 1.0",
      .ops = {{"mul", {{DType::F32, "passed"}, {DType::I8, "unsupported", "no bytes"}}},
              {"gelu", {{DType::F32, "passed", "except: tails"}}}}};
  const std::vector<DocPage> pages = op_pages(all_ops(), kTargets, &conformance);
  EXPECT_TRUE(contains(pages.front().text, "judge: judge 1.0"));
  EXPECT_TRUE(contains(pages.front().text, "| passed: f32; unsupported: i8 |"));
  EXPECT_TRUE(contains(pages.front().text, "| passed with exceptions |"));
  EXPECT_TRUE(contains(pages.front().text, "| no result |"));
  for (const DocPage& candidate : pages) {
    if (candidate.path == "ops/mul.md") {
      EXPECT_TRUE(contains(candidate.text, "| i8 | unsupported | no bytes |"));
    }
  }
}

TEST(OpDocs, ARowThatIsLessAccurateSaysWhy) {
  const std::string text = page("ops/gelu.md");
  EXPECT_TRUE(contains(text,
                       "| chip | native | within 0.001 absolute or 0.5 ulp, whichever is "
                       "larger: read from a table of 1024 steps |"));
  EXPECT_TRUE(contains(text, "`skainet.gelu`, version 1"));
  EXPECT_TRUE(contains(text, " = erf %2 : f32[5]")) << "the decomposition is shown";
}

TEST(OpDocs, AreWrittenIntoAFolderThatIsMade) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("capra_op_docs_" + std::to_string(getpid())) / "generated";
  std::filesystem::remove_all(folder.parent_path());
  ASSERT_TRUE(write_op_docs(folder.string(), all_ops(), kTargets).ok());
  EXPECT_EQ(read_file((folder / "ops" / "gelu.md").string()).value(), page("ops/gelu.md"));
  EXPECT_EQ(read_file((folder / "ops.md").string()).value(), page("ops.md"));
  // A file where a folder is needed.
  const Status status = write_op_docs((folder / "ops.md").string(), all_ops(), kTargets);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "file-unwritable");
  std::filesystem::remove_all(folder.parent_path());
}

}  // namespace
}  // namespace capra
