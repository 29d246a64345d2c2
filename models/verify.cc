// Three evaluations of one model side by side, and what a file says besides.
#include "models/verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "capra/base/number_text.h"
#include "capra/interp/interp.h"
#include "capra/io/safetensors.h"
#include "capra/ir/structural_ops.h"
#include "models/embedding_parts.h"

namespace capra {
namespace {

// Every state of one text, in the order of the graph's outputs.
using States = std::vector<Array>;

std::vector<Array> batch_arrays(const BatchWorkspace& batch) {
  const auto array = [](const std::vector<int32_t>& values) {
    return Array::of<int32_t>(DType::I32, {static_cast<int64_t>(values.size())}, values);
  };
  return {array(batch.ids), array(batch.positions), array(batch.offsets)};
}

// Rows [from, to) of every state.
States rows_of(const States& states, int64_t from, int64_t to) {
  States rows;
  for (const Array& state : states) {
    const int64_t width = state.sizes()[1];
    Array part = Array::zeros(state.dtype(), {to - from, width});
    const size_t row_bytes = static_cast<size_t>(width) * dtype_bytes(state.dtype());
    std::memcpy(part.mutable_data(), state.data() + static_cast<size_t>(from) * row_bytes,
                part.byte_size());
    rows.push_back(std::move(part));
  }
  return rows;
}

// Values whose bits differ; NaN equals NaN.
int64_t count_differing(const Array& a, const Array& b) {
  CAPRA_CHECK(a.dtype() == b.dtype() && a.elements() == b.elements());
  const size_t bytes = dtype_bytes(a.dtype());
  int64_t count = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const size_t at = static_cast<size_t>(i) * bytes;
    if (std::memcmp(a.data() + at, b.data() + at, bytes) == 0) continue;
    if (std::isnan(a.f64_at(i)) && std::isnan(b.f64_at(i))) continue;
    ++count;
  }
  return count;
}

// The largest difference; a NaN on one side alone counts as infinite.
double max_difference(const Array& a, const Array& b) {
  CAPRA_CHECK(a.elements() == b.elements());
  double largest = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.f64_at(i);
    const double y = b.f64_at(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::abs(x - y);
    largest = std::max(largest, std::isnan(difference) ? INFINITY : difference);
  }
  return largest;
}

bool is_finite(const Array& a) {
  for (int64_t i = 0; i < a.elements(); ++i) {
    if (!std::isfinite(a.f64_at(i))) return false;
  }
  return true;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::ranges::sort(values);
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Failure reference_shape(const std::string& path, const std::string& name, const Array& found,
                        const std::vector<int64_t>& needed) {
  return fail(
      "reference-shape", "is " + Shape(found.sizes()).text() + ", needed " + Shape(needed).text(),
      path + ": " + name, "compare the texts that the file was made from: --texts, --max-length");
}

class Verifier {
 public:
  Verifier(const EmbeddingModel& model, const Reference* reference)
      : parts_(model.parts()), reference_(reference) {}

  Result<Verification> run(const PackedTokens& tokens,
                           const std::function<void(int64_t)>& progress);

 private:
  Status prepare();
  Result<States> optimized(const PackedTokens& tokens, int64_t first, int64_t last);
  Result<States> eager(const BatchWorkspace& batch);
  Result<States> oracle(const BatchWorkspace& batch);
  Status compare_text(const PackedTokens& tokens, int64_t text, const States& from_batch);
  Array vector_of(const States& states) const;
  Array pooled_of(const States& states) const;
  void compare_stage(size_t stage, int64_t text, const Array& fast, const Array& eager,
                     const Array& exact);
  Status compare_reference(const std::string& name, int64_t row, const Array& fast,
                           const Array& exact);

  const EmbeddingModel::Parts& parts_;
  const Reference* reference_;
  Graph exact_graph_;
  Graph graph_;
  std::unique_ptr<Executable> executable_;
  Workspace workspace_;
  Context eager_context_;
  std::vector<std::string> names_;  // of the states
  std::vector<double> vector_errors_;
  std::vector<double> reference_errors_;
  Verification result_;
};

Status Verifier::prepare() {
  exact_graph_ = parts_.encoder->trace({.form = SequenceForm::Packed, .states = true});
  CAPRA_ASSIGN(graph_, parts_.approximated(exact_graph_));
  CompileOptions options;
  options.pool = parts_.pool;
  CAPRA_ASSIGN(executable_, compile(*parts_.target, graph_, parts_.weights.parameters, options));
  workspace_ = executable_->make_workspace(parts_.pool);
  eager_context_ = eager_context(*parts_.target, &parts_.weights.parameters, parts_.pool);
  for (const NodeId id : graph_.outputs()) {
    names_.push_back(graph_.node(id).attrs_as<OutputAttrs>().name);
  }
  for (const std::string& name : names_) result_.stages.push_back({.stage = name});
  result_.stages.push_back({.stage = "vector"});
  return {};
}

Result<States> Verifier::optimized(const PackedTokens& tokens, int64_t first, int64_t last) {
  BatchWorkspace batch;
  fill_batch(*parts_.encoder, tokens.ids, tokens.offsets, first, last, batch);
  std::array<int64_t, 2> extents;
  return executable_->run_unrounded(workspace_, batch_inputs(batch, extents));
}

Result<States> Verifier::eager(const BatchWorkspace& batch) {
  std::vector<Tensor> inputs;
  for (Array& array : batch_arrays(batch)) {
    inputs.push_back(Tensor::of_data(eager_context_, std::move(array)));
  }
  try {
    States states;
    for (const Tensor& state : replay(graph_, eager_context_, inputs)) {
      states.push_back(state.array());
    }
    return states;
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
}

Result<States> Verifier::oracle(const BatchWorkspace& batch) {
  return interpret(exact_graph_, batch_arrays(batch), parts_.weights.parameters, parts_.pool);
}

Array Verifier::vector_of(const States& states) const {
  const Array& hidden = states.back();
  const int64_t tokens = hidden.sizes()[0];
  const int64_t skipped = std::min(parts_.prompt_size, tokens - 1);
  if (hidden.dtype() == DType::F64) {
    const std::vector<double> vector =
        parts_.head.apply_exact(hidden.as<double>(), tokens, nullptr, skipped);
    return Array::of<double>(DType::F64, {parts_.head.dimension()}, vector);
  }
  Array vector = Array::zeros(DType::F32, {parts_.head.dimension()});
  parts_.head.apply(hidden.as<float>(), tokens, vector.mutable_as<float>(), skipped);
  return vector;
}

Array Verifier::pooled_of(const States& states) const {
  const Array& hidden = states.back();
  const int64_t tokens = hidden.sizes()[0];
  const int64_t skipped = std::min(parts_.prompt_size, tokens - 1);
  std::vector<double> pooled;
  if (hidden.dtype() == DType::F64) {
    parts_.head.apply_exact(hidden.as<double>(), tokens, &pooled, skipped);
  } else {
    pooled = parts_.head.pool(hidden.as<float>(), tokens, skipped);
  }
  return Array::of<double>(DType::F64, {static_cast<int64_t>(pooled.size())}, pooled);
}

void Verifier::compare_stage(size_t stage, int64_t text, const Array& fast, const Array& eager,
                             const Array& exact) {
  StageResult& row = result_.stages[stage];
  const double error = max_difference(fast, exact);
  if (error > row.max_abs_error) {
    row.max_abs_error = error;
    row.worst_text = text;
  }
  row.eager_difference = std::max(row.eager_difference, max_difference(eager, fast));
  const int64_t differing = count_differing(eager, fast);
  row.differing_values += differing;
  result_.differing_values += differing;
}

// `row` -1: the whole tensor; else one row of it.
Status Verifier::compare_reference(const std::string& name, int64_t row, const Array& fast,
                                   const Array& exact) {
  if (reference_ == nullptr) return {};
  const auto found = reference_->tensors.find(name);
  if (found == reference_->tensors.end()) return {};
  Array expected = found->second;
  if (row >= 0) {
    expected = rows_of({expected}, row, row + 1).front();
  } else if (expected.sizes() != fast.sizes()) {
    return reference_shape(reference_->path, name, expected, fast.sizes());
  }
  auto result = std::ranges::find(result_.references, name, &ReferenceResult::name);
  if (result == result_.references.end()) {
    result_.references.push_back({.name = name});
    result = result_.references.end() - 1;
  }
  const double error = max_difference(fast, expected);
  result->optimized_error = std::max(result->optimized_error, error);
  result->oracle_error = std::max(result->oracle_error, max_difference(exact, expected));
  if (name == "embeddings") reference_errors_.push_back(error);
  return {};
}

Status Verifier::compare_text(const PackedTokens& tokens, int64_t text, const States& from_batch) {
  BatchWorkspace batch;
  fill_batch(*parts_.encoder, tokens.ids, tokens.offsets, text, text + 1, batch);
  CAPRA_ASSIGN(const States alone, optimized(tokens, text, text + 1));
  CAPRA_ASSIGN(const States eagerly, eager(batch));
  CAPRA_ASSIGN(const States exact, oracle(batch));
  const std::string prefix = "text" + number_text(text) + ".";
  for (size_t stage = 0; stage < names_.size(); ++stage) {
    compare_stage(stage, text, from_batch[stage], eagerly[stage], exact[stage]);
    result_.batch_differing_values += count_differing(from_batch[stage], alone[stage]);
    CAPRA_TRY(compare_reference(prefix + names_[stage], -1, from_batch[stage], exact[stage]));
  }
  const Array vector = vector_of(from_batch);
  const Array exact_vector = vector_of(exact);
  if (!is_finite(vector) || !is_finite(exact_vector)) ++result_.vectors_not_finite;
  compare_stage(names_.size(), text, vector, vector_of(eagerly), exact_vector);
  CAPRA_TRY(compare_reference("embeddings", text, vector, exact_vector));
  CAPRA_TRY(compare_reference("pooled", text, pooled_of(from_batch), pooled_of(exact)));
  vector_errors_.push_back(max_difference(vector, exact_vector));
  return {};
}

Status check_reference(const Reference& reference, const PackedTokens& tokens,
                       const EmbeddingModel::Parts& parts) {
  for (const auto& [name, array] : reference.tensors) {
    const bool per_text = name == "embeddings" || name == "pooled";
    if (!per_text) continue;
    const int64_t width =
        name == "embeddings"
            ? parts.head.dimension()
            : parts.encoder->hidden_size() * static_cast<int64_t>(parts.head.poolings().size());
    const std::vector<int64_t> needed = {tokens.sequences(), width};
    if (array.sizes() != needed) {
      return reference_shape(reference.path, name, array, needed);
    }
  }
  return {};
}

Result<Verification> Verifier::run(const PackedTokens& tokens,
                                   const std::function<void(int64_t)>& progress) {
  CAPRA_TRY(prepare());
  if (reference_ != nullptr) CAPRA_TRY(check_reference(*reference_, tokens, parts_));
  result_.target = parts_.target->name;
  result_.texts = tokens.sequences();
  result_.tokens = static_cast<int64_t>(tokens.ids.size());
  result_.approximations = parts_.approximations;
  for (int64_t first = 0; first < tokens.sequences();) {
    const int64_t last = batch_end(tokens.offsets, first, parts_.token_budget);
    CAPRA_ASSIGN(const States states, optimized(tokens, first, last));
    const int64_t begin = tokens.offsets[static_cast<size_t>(first)];
    for (int64_t text = first; text < last; ++text) {
      const int64_t from = tokens.offsets[static_cast<size_t>(text)] - begin;
      const int64_t to = tokens.offsets[static_cast<size_t>(text) + 1] - begin;
      CAPRA_TRY(compare_text(tokens, text, rows_of(states, from, to)));
      if (progress) progress(text + 1);
    }
    first = last;
  }
  result_.vector_error = result_.stages.back().max_abs_error;
  result_.median_vector_error = median(vector_errors_);
  for (ReferenceResult& reference : result_.references) {
    if (reference.name == "embeddings") reference.median_row_error = median(reference_errors_);
  }
  if (reference_ != nullptr) {
    for (const auto& [name, array] : reference_->tensors) {
      if (std::ranges::find(result_.references, name, &ReferenceResult::name) ==
          result_.references.end()) {
        result_.unmatched.push_back(name);
      }
    }
  }
  return std::move(result_);
}

}  // namespace

Result<Reference> read_reference(const std::string& path) {
  CAPRA_ASSIGN(const SafetensorsFile file, SafetensorsFile::open(path));
  Reference reference;
  reference.path = path;
  for (const SafetensorsEntry& entry : file.tensors()) {
    if (!is_float(entry.dtype) || entry.sizes.size() != 2) {
      return fail("reference-shape",
                  "is " + TensorType{entry.dtype, Shape(entry.sizes)}.text() +
                      ", needed a matrix of floats",
                  path + ": " + entry.name);
    }
    CAPRA_ASSIGN(Array array, file.array(entry.name));
    reference.tensors.emplace(entry.name, std::move(array));
  }
  return reference;
}

Result<Verification> verify_model(const EmbeddingModel& model, const PackedTokens& tokens,
                                  const Reference* reference,
                                  const std::function<void(int64_t)>& progress) {
  CAPRA_TRY(check_packed(*model.parts().encoder, tokens.ids, tokens.offsets));
  return Verifier(model, reference).run(tokens, progress);
}

}  // namespace capra
