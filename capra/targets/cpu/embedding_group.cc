// Two or three terms, the first of them a gather, in the order of the body: ((word + second) +
// third).
#include "capra/targets/cpu/embedding_group.h"

#include <optional>
#include <vector>

#include "capra/ops/add.h"
#include "capra/ops/gather.h"
#include "capra/ops/layer_norm.h"
#include "capra/targets/cpu/group_body.h"
#include "capra/targets/cpu/kernels/normalize.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

// How a term picks the row of its table for token t.
enum class Rows : uint8_t { Indices, Token, First };

struct Term {
  int table = -1;
  Rows rows = Rows::Indices;
  int indices = -1;
};

struct EmbeddingForm {
  std::vector<Term> terms;
  int gamma = -1;
  int beta = -1;
  double eps = 0;
};

std::optional<Term> read_term(const GroupBody& body, NodeId id, const StepRequest& request) {
  const Shape& result = request.node.type.shape;
  if (body.is(id, kGather)) {
    const Term term{body.operand(id, 0), Rows::Indices, body.operand(id, 1)};
    if (term.table < 0 || term.indices < 0 || body.attrs<GatherAttrs>(id).axis != 0) {
      return std::nullopt;
    }
    // One row of the table a row of the result: no broadcasting, no lists of lists.
    const auto rank = [&](int operand) {
      return request.operands[static_cast<size_t>(operand)]->shape.rank();
    };
    if (body.node(id).type.shape != result || rank(term.table) != 2 || rank(term.indices) != 1) {
      return std::nullopt;
    }
    return term;
  }
  const int operand = body.ordinal(id);
  if (operand < 0) return std::nullopt;
  const Shape& shape = request.operands[static_cast<size_t>(operand)]->shape;
  if (shape == result) return Term{operand, Rows::Token, -1};
  const bool one_row = shape == Shape{result[1]} || shape == Shape{1, result[1]};
  if (one_row) return Term{operand, Rows::First, -1};
  return std::nullopt;
}

// The terms of a chain of additions, first one first.
bool read_terms(const GroupBody& body, NodeId id, const StepRequest& request,
                std::vector<Term>& terms) {
  if (body.is(id, kAdd)) {
    if (!read_terms(body, body.node(id).operands[0], request, terms)) return false;
    id = body.node(id).operands[1];
  }
  const std::optional<Term> term = read_term(body, id, request);
  if (!term) return false;
  terms.push_back(*term);
  return true;
}

class EmbeddingStep : public Step {
 public:
  EmbeddingStep(const KernelTable& table, EmbeddingForm form)
      : table_(table), form_(std::move(form)) {}

  Status run(const StepCall& call) const override {
    const View& out = call.result;
    const int64_t tokens = out.dim(0);
    const int64_t n = out.dim(1);
    const size_t list = aligned(static_cast<size_t>(tokens) * sizeof(int64_t));
    std::byte* memory = call.scratch.get(list * form_.terms.size());
    const auto memory_of = [&](size_t term) {
      return reinterpret_cast<int64_t*>(memory + term * list);
    };
    const auto data = [&](int index) -> const float* {
      return index < 0 ? nullptr : call.operands[static_cast<size_t>(index)]->as<float>();
    };
    kernels::EmbeddingNorm e{};
    e.word = data(form_.terms[0].table);
    CAPRA_TRY(indices(call, form_.terms[0], memory_of(0)));
    e.ids = memory_of(0);
    if (form_.terms.size() > 1) {
      const Term& second = form_.terms[1];
      e.position = data(second.table);
      // The kernel's default is the token's own row.
      if (second.rows != Rows::Token) {
        CAPRA_TRY(indices(call, second, memory_of(1)));
        e.positions = memory_of(1);
      }
    }
    if (form_.terms.size() > 2) {
      const Term& third = form_.terms[2];
      e.type = data(third.table);
      // The kernel's default is row 0.
      if (third.rows != Rows::First) {
        CAPRA_TRY(indices(call, third, memory_of(2)));
        e.type_ids = memory_of(2);
      }
    }
    e.gamma = data(form_.gamma);
    e.beta = data(form_.beta);
    e.eps = form_.eps;
    split(call.pool, tokens, row_grain(n), [&](int64_t begin, int64_t end, int) {
      kernels::embedding_norm(table_, e, out.as<float>(), n, {begin, end});
    });
    return {};
  }

  // Tables are touched only in the rows that are picked.
  StepWork work(const StepCall& call) const override {
    StepWork work;
    work.bytes =
        static_cast<double>(call.result.byte_size()) * static_cast<double>(form_.terms.size() + 1);
    return work;
  }

 private:
  static Status indices(const StepCall& call, const Term& term, int64_t* out) {
    const int64_t tokens = call.result.dim(0);
    for (int64_t token = 0; term.rows != Rows::Indices && token < tokens; ++token) {
      out[token] = term.rows == Rows::Token ? token : 0;
    }
    if (term.rows != Rows::Indices) return {};
    const View& table = *call.operands[static_cast<size_t>(term.table)];
    return read_indices(*call.operands[static_cast<size_t>(term.indices)], table.dim(0), out);
  }

  const KernelTable& table_;
  EmbeddingForm form_;
};

}  // namespace

Result<std::unique_ptr<Step>> make_embedding_norm(const StepRequest& request,
                                                  const KernelTable& table) {
  const GroupBody body(*request.node.body);
  const NodeId norm = body.result();
  if (!body.is(norm, kLayerNorm) || request.node.type.shape.rank() != 2)
    return std::unique_ptr<Step>();
  EmbeddingForm form;
  form.eps = body.attrs<LayerNormAttrs>(norm).eps;
  if (!body.optional_operand(norm, 1, form.gamma) || !body.optional_operand(norm, 2, form.beta)) {
    return std::unique_ptr<Step>();
  }
  if (!read_terms(body, body.node(norm).operands[0], request, form.terms))
    return std::unique_ptr<Step>();
  // The first addition has no order, so its gather may stand second.
  if (form.terms.size() > 1 && form.terms[0].rows != Rows::Indices) {
    std::swap(form.terms[0], form.terms[1]);
  }
  if (form.terms[0].rows != Rows::Indices || form.terms.size() > 3) return std::unique_ptr<Step>();
  return std::unique_ptr<Step>(std::make_unique<EmbeddingStep>(table, std::move(form)));
}

}  // namespace capra::cpu
