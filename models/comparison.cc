// Accumulating the differences of texts, and what a file says besides.
#include "models/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/io/safetensors.h"

namespace capra {
namespace {

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

}  // namespace

std::vector<Array> batch_arrays(const BatchWorkspace& batch) {
  const auto array = [](const std::vector<int32_t>& values) {
    return Array::of<int32_t>(DType::I32, {static_cast<int64_t>(values.size())}, values);
  };
  return {array(batch.ids), array(batch.positions), array(batch.offsets)};
}

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

Array vector_of(const EmbeddingModel::Parts& parts, const Array& hidden) {
  const int64_t tokens = hidden.sizes()[0];
  const int64_t skipped = std::min(parts.prompt_size, tokens - 1);
  if (hidden.dtype() == DType::F64) {
    const std::vector<double> vector =
        parts.head.apply_exact(hidden.as<double>(), tokens, nullptr, skipped);
    return Array::of<double>(DType::F64, {parts.head.dimension()}, vector);
  }
  Array vector = Array::zeros(DType::F32, {parts.head.dimension()});
  parts.head.apply(hidden.as<float>(), tokens, vector.mutable_as<float>(), skipped);
  return vector;
}

Comparison::Comparison(const EmbeddingModel::Parts& parts, const PackedTokens& tokens,
                       const Reference* reference, std::vector<std::string> names)
    : parts_(parts), tokens_(tokens), reference_(reference), names_(std::move(names)) {
  for (const std::string& name : names_) result_.stages.push_back({.stage = name});
  result_.stages.push_back({.stage = "vector"});
  result_.target = parts.target->name;
  result_.texts = tokens.sequences();
  result_.tokens = static_cast<int64_t>(tokens.ids.size());
  result_.approximations = parts.approximations;
}

Array Comparison::pooled_of(const Array& hidden) const {
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

void Comparison::compare_stage(size_t stage, int64_t text, const Array& fast, const Array& exact,
                               const Array* eager) {
  StageResult& row = result_.stages[stage];
  const double error = max_difference(fast, exact);
  if (error > row.max_abs_error) {
    row.max_abs_error = error;
    row.worst_text = text;
  }
  if (eager == nullptr) return;
  row.eager_difference = std::max(row.eager_difference, max_difference(*eager, fast));
  const int64_t differing = count_differing(*eager, fast);
  row.differing_values += differing;
  result_.differing_values += differing;
}

// `row` -1: the whole tensor; else one row of it.
Status Comparison::compare_reference(const std::string& name, int64_t row, const Array& fast,
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

Status Comparison::check_reference() const {
  if (reference_ == nullptr) return {};
  for (const auto& [name, array] : reference_->tensors) {
    const bool per_text = name == "embeddings" || name == "pooled";
    if (!per_text) continue;
    const int64_t width =
        name == "embeddings"
            ? parts_.head.dimension()
            : parts_.encoder->hidden_size() * static_cast<int64_t>(parts_.head.poolings().size());
    const std::vector<int64_t> needed = {tokens_.sequences(), width};
    if (array.sizes() != needed) return reference_shape(reference_->path, name, array, needed);
  }
  return {};
}

Status Comparison::add(int64_t text, const TextStates& states) {
  const bool is_eager = !states.eager.empty();
  const std::string prefix = "text" + number_text(text) + ".";
  for (size_t stage = 0; stage < names_.size(); ++stage) {
    compare_stage(stage, text, states.fast[stage], states.exact[stage],
                  is_eager ? &states.eager[stage] : nullptr);
    if (!states.alone.empty()) {
      result_.batch_differing_values += count_differing(states.fast[stage], states.alone[stage]);
    }
    CAPRA_TRY(
        compare_reference(prefix + names_[stage], -1, states.fast[stage], states.exact[stage]));
  }
  const Array vector = vector_of(parts_, states.fast.back());
  const Array exact = vector_of(parts_, states.exact.back());
  if (!is_finite(vector) || !is_finite(exact)) ++result_.vectors_not_finite;
  const Array eager = is_eager ? vector_of(parts_, states.eager.back()) : Array();
  compare_stage(names_.size(), text, vector, exact, is_eager ? &eager : nullptr);
  CAPRA_TRY(compare_reference("embeddings", text, vector, exact));
  CAPRA_TRY(compare_reference("pooled", text, pooled_of(states.fast.back()),
                              pooled_of(states.exact.back())));
  vector_errors_.push_back(max_difference(vector, exact));
  return {};
}

Verification Comparison::finish() {
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

}  // namespace capra
