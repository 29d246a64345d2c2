// Fused groups: for each label, a reader that checks the body and a step that runs it as one
// kernel. A body that is not exactly what a kernel computes has no step here and is run node by
// node.
#include <array>
#include <optional>
#include <vector>

#include "capra/ir/structural_ops.h"
#include "capra/ops/add.h"
#include "capra/ops/attention.h"
#include "capra/ops/concat.h"
#include "capra/ops/gather.h"
#include "capra/ops/gelu.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/linear.h"
#include "capra/ops/relu.h"
#include "capra/ops/reshape.h"
#include "capra/ops/sigmoid.h"
#include "capra/ops/silu.h"
#include "capra/ops/slice.h"
#include "capra/ops/tanh.h"
#include "capra/passes/fusion_labels.h"
#include "capra/targets/cpu/attention.h"
#include "capra/targets/cpu/embedding_group.h"
#include "capra/targets/cpu/group_body.h"
#include "capra/targets/cpu/kernels/normalize.h"
#include "capra/targets/cpu/product.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

using kernels::Activation;
using StepResult = Result<std::unique_ptr<Step>>;

std::unique_ptr<Step> no_kernel() { return nullptr; }

const View* given(const StepCall& call, int index) {
  return index < 0 ? nullptr : call.operands[static_cast<size_t>(index)];
}
const float* floats(const StepCall& call, int index) {
  const View* view = given(call, index);
  return view == nullptr ? nullptr : view->as<float>();
}

// --- products with what follows them

struct NormOperands {
  int gamma = -1;
  int beta = -1;
  double eps = 0;
};

// linear, then an activation; or an addition and perhaps a layer norm.
struct LinearForm {
  std::vector<int> weights;  // more than one: products side by side
  std::vector<int> biases;   // empty, or one for each weight
  Activation activation = Activation::None;
  int residual = -1;
  std::optional<NormOperands> norm;
};

class FusedLinearStep : public Step {
 public:
  FusedLinearStep(const KernelTable& table, LinearForm form, PackedWeight weight,
                  std::vector<float> bias)
      : table_(table), form_(std::move(form)), weight_(std::move(weight)), bias_(std::move(bias)) {}

  bool takes_strided(size_t index) const override { return index == 0; }
  // An element of the residual is read just before its place is written, and not again; x is read
  // by every column.
  bool may_overwrite(size_t index) const override {
    return index != 0 && static_cast<int>(index) == form_.residual;
  }
  bool reads(size_t index) const override {
    const int at = static_cast<int>(index);
    // Biases of products side by side were joined.
    return std::ranges::count(form_.weights, at) == 0 &&
           (bias_.empty() || std::ranges::count(form_.biases, at) == 0);
  }

  Status run(const StepCall& call) const override {
    const View& x = *call.operands[0];
    const View& out = call.result;
    const auto n = static_cast<int64_t>(weight_.n);
    PackedProduct product{.weight = weight_,
                          .x = x.as<float>(),
                          .x_row = x.rank == 2 ? x.stride(0) : x.dim(x.rank - 1),
                          .m = static_cast<size_t>(out.elements() / n),
                          .out = out.as<float>(),
                          .out_row = n};
    product.epilogue.activation = form_.activation;
    product.epilogue.bias = !bias_.empty()         ? bias_.data()
                            : form_.biases.empty() ? nullptr
                                                   : floats(call, form_.biases.front());
    product.epilogue.residual = floats(call, form_.residual);
    product.epilogue.residual_row = n;
    if (!form_.norm) {
      run_product(table_, product, call.pool, call.scratch);
      return {};
    }
    const float* gamma = floats(call, form_.norm->gamma);
    const float* beta = floats(call, form_.norm->beta);
    run_product(table_, product, call.pool, call.scratch, [&](int64_t begin, int64_t end) {
      float* rows = product.out + begin * n;
      kernels::layer_norm_rows(table_, Element::F32, rows, nullptr, gamma, beta, form_.norm->eps,
                               rows, end - begin, n);
    });
    return {};
  }

  StepWork work(const StepCall& call) const override {
    StepWork work = Step::work(call);
    work.bytes += static_cast<double>(weight_.floats->size());
    work.flops = 2.0 * static_cast<double>(call.result.elements()) * static_cast<double>(weight_.k);
    return work;
  }

 private:
  const KernelTable& table_;
  LinearForm form_;
  PackedWeight weight_;
  std::vector<float> bias_;
};

// A weight is not there any more when the step runs, so no operand may have a second role.
bool has_one_role_each(const LinearForm& form) {
  std::vector<int> roles{0, form.residual};
  roles.insert(roles.end(), form.weights.begin(), form.weights.end());
  roles.insert(roles.end(), form.biases.begin(), form.biases.end());
  if (form.norm) roles.insert(roles.end(), {form.norm->gamma, form.norm->beta});
  std::erase(roles, -1);
  std::ranges::sort(roles);
  return std::ranges::adjacent_find(roles) == roles.end();
}

StepResult make_fused_linear(const StepRequest& request, const KernelTable& table,
                             LinearForm form) {
  if (!has_one_role_each(form)) return no_kernel();
  std::vector<const Array*> weights;
  for (const int index : form.weights) {
    const Array* weight = request.constants[static_cast<size_t>(index)];
    if (weight == nullptr) return no_kernel();
    weights.push_back(weight);
  }
  // Rows of x must be evenly spaced: rank 2, or row-major (which strided views of rank 3 are not).
  if (request.operands[0]->shape.rank() != 2) return no_kernel();
  std::vector<float> joined;
  if (form.biases.size() > 1) {
    for (const int index : form.biases) {
      const Array* bias = request.constants[static_cast<size_t>(index)];
      if (bias == nullptr) return no_kernel();
      joined.insert(joined.end(), bias->as<float>().begin(), bias->as<float>().end());
    }
  }
  PackedWeight packed = pack_weights(table, weights, request.pool, request.memory);
  return std::unique_ptr<Step>(std::make_unique<FusedLinearStep>(
      table, std::move(form), std::move(packed), std::move(joined)));
}

// The operands of a linear on operand 0; false if it is something else.
bool read_linear(const GroupBody& body, NodeId id, LinearForm& form) {
  if (!body.is(id, kLinear)) return false;
  if (body.operand(id, 0) != 0 || body.operand(id, 1) < 0) return false;
  form.weights.push_back(body.operand(id, 1));
  if (body.has(id, 2)) {
    if (body.operand(id, 2) < 0) return false;
    form.biases.push_back(body.operand(id, 2));
  }
  return true;
}

std::optional<NormOperands> read_norm(const GroupBody& body, NodeId id) {
  if (!body.is(id, kLayerNorm)) return std::nullopt;
  NormOperands norm;
  norm.eps = body.attrs<LayerNormAttrs>(id).eps;
  if (!body.optional_operand(id, 1, norm.gamma) || !body.optional_operand(id, 2, norm.beta)) {
    return std::nullopt;
  }
  return norm;
}

std::optional<Activation> activation_of(const GroupBody& body, NodeId id) {
  if (body.is(id, kGelu)) {
    return body.attrs<GeluAttrs>(id).approximate ? Activation::GeluTanh : Activation::GeluExact;
  }
  if (body.is(id, kRelu)) return Activation::Relu;
  if (body.is(id, kSilu)) return Activation::Silu;
  if (body.is(id, kTanh)) return Activation::Tanh;
  if (body.is(id, kSigmoid)) return Activation::Sigmoid;
  return std::nullopt;
}

StepResult make_qkv(const StepRequest& request, const KernelTable& table) {
  const GroupBody body(*request.node.body);
  const NodeId concat = body.result();
  if (!body.is(concat, kConcat)) return no_kernel();
  const int64_t axis = body.attrs<ConcatAttrs>(concat).axis;
  if (axis != -1 && axis != request.node.type.shape.rank() - 1) return no_kernel();
  LinearForm form;
  for (const NodeId part : body.node(concat).operands) {
    if (!read_linear(body, part, form)) return no_kernel();
  }
  if (!form.biases.empty() && form.biases.size() != form.weights.size()) return no_kernel();
  return make_fused_linear(request, table, std::move(form));
}

StepResult make_linear_activation(const StepRequest& request, const KernelTable& table) {
  const GroupBody body(*request.node.body);
  const NodeId last = body.result();
  LinearForm form;
  const auto activation = activation_of(body, last);
  if (!activation || !read_linear(body, body.node(last).operands[0], form)) return no_kernel();
  form.activation = *activation;
  return make_fused_linear(request, table, std::move(form));
}

// linear + add, where the other addend is an operand of the result's type.
bool read_linear_add(const GroupBody& body, NodeId add, const StepRequest& request,
                     LinearForm& form) {
  if (!body.is(add, kAdd)) return false;
  for (const size_t linear_side : {size_t{0}, size_t{1}}) {
    LinearForm found;
    const int residual = body.operand(add, 1 - linear_side);
    if (residual < 0 || !read_linear(body, body.node(add).operands[linear_side], found)) continue;
    if (*request.operands[static_cast<size_t>(residual)] != request.node.type) return false;
    found.residual = residual;
    form = std::move(found);
    return true;
  }
  return false;
}

StepResult make_linear_add(const StepRequest& request, const KernelTable& table) {
  const GroupBody body(*request.node.body);
  LinearForm form;
  if (!read_linear_add(body, body.result(), request, form)) return no_kernel();
  return make_fused_linear(request, table, std::move(form));
}

StepResult make_linear_add_norm(const StepRequest& request, const KernelTable& table) {
  const GroupBody body(*request.node.body);
  const auto norm = read_norm(body, body.result());
  if (!norm) return no_kernel();
  LinearForm form;
  if (!read_linear_add(body, body.node(body.result()).operands[0], request, form)) {
    return no_kernel();
  }
  form.norm = *norm;
  return make_fused_linear(request, table, std::move(form));
}

// --- residual + layer norm

StepResult make_add_norm(const StepRequest& request, const KernelTable& table) {
  const GroupBody body(*request.node.body);
  const auto norm = read_norm(body, body.result());
  if (!norm) return no_kernel();
  const NodeId add = body.node(body.result()).operands[0];
  if (!body.is(add, kAdd)) return no_kernel();
  const int x = body.operand(add, 0);
  const int residual = body.operand(add, 1);
  if (x < 0 || residual < 0) return no_kernel();
  for (const int index : {x, residual}) {
    if (*request.operands[static_cast<size_t>(index)] != request.node.type) return no_kernel();
  }
  return contiguous_step([&table, norm = *norm, x, residual](const StepCall& call) {
    const View& y = call.result;
    const int64_t n = y.dim(y.rank - 1);
    split(call.pool, y.elements() / n, row_grain(n), [&](int64_t begin, int64_t end, int) {
      kernels::layer_norm_rows(table, Element::F32, floats(call, x) + begin * n,
                               floats(call, residual) + begin * n, floats(call, norm.gamma),
                               floats(call, norm.beta), norm.eps, y.as<float>() + begin * n,
                               end - begin, n);
    });
  });
}

// --- attention over the columns of one product

struct QkvForm {
  std::array<int64_t, 3> start{};  // first column of q, k and v
  std::array<int64_t, 3> heads{};
  std::array<int64_t, 3> dim{};
  int offsets = -1;
  int key_lengths = -1;
  int mask = -1;
  bool causal = false;
  double scale = 1;
};

class AttentionQkvStep : public Step {
 public:
  AttentionQkvStep(const KernelTable& table, QkvForm form) : table_(table), form_(form) {}

  bool takes_strided(size_t index) const override { return index == 0; }
  Status run(const StepCall& call) const override {
    return run_attention(table_, job_of(call), call.pool, call.scratch);
  }
  StepWork work(const StepCall& call) const override {
    StepWork work = Step::work(call);
    work.flops = attention_flops(job_of(call));
    return work;
  }

 private:
  // Columns of the product as [tokens, heads, dim].
  View part(const View& qkv, size_t which) const {
    View view;
    view.dtype = qkv.dtype;
    view.rank = 3;
    view.dims = {qkv.dim(0), form_.heads[which], form_.dim[which]};
    view.strides = {qkv.stride(0), form_.dim[which], 1};
    view.data = qkv.data + static_cast<size_t>(form_.start[which]) * dtype_bytes(qkv.dtype);
    return view;
  }

  AttentionJob job_of(const StepCall& call) const {
    const View& qkv = *call.operands[0];
    return {.q = part(qkv, 0),
            .k = part(qkv, 1),
            .v = part(qkv, 2),
            .out = call.result,
            .offsets = given(call, form_.offsets),
            .key_lengths = given(call, form_.key_lengths),
            .mask = given(call, form_.mask),
            .scale = form_.scale,
            .causal = form_.causal};
  }

  const KernelTable& table_;
  QkvForm form_;
};

// q, k or v: a reshape of a slice of columns of operand 0.
bool read_part(const GroupBody& body, NodeId reshape, size_t which, QkvForm& form) {
  if (!body.is(reshape, kReshape)) return false;
  const NodeId slice = body.node(reshape).operands[0];
  if (!body.is(slice, kSlice) || body.operand(slice, 0) != 0) return false;
  const Shape& whole = body.node(body.node(slice).operands[0]).type.shape;
  const Shape& columns = body.node(slice).type.shape;
  const Shape& shape = body.node(reshape).type.shape;
  const auto attrs = body.attrs<SliceAttrs>(slice);
  if (std::ranges::any_of(attrs.strides, [](int64_t step) { return step != 1; })) return false;
  if (whole.rank() != 2 || attrs.starts[0] != 0 || columns[0] != whole[0]) return false;
  if (shape.rank() != 3 || shape[0] != whole[0] || !shape[1].is_static() || !shape[2].is_static()) {
    return false;
  }
  form.start[which] = attrs.starts[1];
  form.heads[which] = shape[1].size();
  form.dim[which] = shape[2].size();
  return true;
}

StepResult make_attention_qkv(const StepRequest& request, const KernelTable& table) {
  const GroupBody body(*request.node.body);
  const NodeId attention = body.result();
  if (!body.is(attention, kAttention)) return no_kernel();
  QkvForm form;
  for (size_t which = 0; which < 3; ++which) {
    if (!read_part(body, body.node(attention).operands[which], which, form)) return no_kernel();
  }
  constexpr auto kMost = static_cast<int64_t>(kernels::AttentionF32::kMaxHeadDim);
  if (form.dim[0] > kMost || form.dim[2] > kMost) return no_kernel();
  int* const optional[] = {&form.offsets, &form.key_lengths, &form.mask};
  for (size_t index = 0; index < 3; ++index) {
    if (!body.optional_operand(attention, index + 3, *optional[index])) return no_kernel();
  }
  const auto attrs = body.attrs<AttentionAttrs>(attention);
  form.causal = attrs.causal;
  form.scale = attention_scale(attrs, form.dim[0]);
  return std::unique_ptr<Step>(std::make_unique<AttentionQkvStep>(table, form));
}

struct GroupKernel {
  std::string_view label;
  MakeCpuStep make;
};
constexpr GroupKernel kGroups[] = {
    {kFusedAddLayerNorm, make_add_norm},
    {kFusedAttentionQkv, make_attention_qkv},
    {kFusedEmbeddingLayerNorm, make_embedding_norm},
    {kFusedLinearActivation, make_linear_activation},
    {kFusedLinearAdd, make_linear_add},
    {kFusedLinearAddLayerNorm, make_linear_add_norm},
    {kFusedQkv, make_qkv},
};

}  // namespace

Result<std::unique_ptr<Step>> make_group(const StepRequest& request, const KernelTable& table) {
  if (request.node.type.dtype != DType::F32) return no_kernel();
  const std::string label = request.node.attrs_as<GroupAttrs>().label;
  for (const GroupKernel& group : kGroups) {
    if (group.label == label) return group.make(request, table);
  }
  return no_kernel();
}

}  // namespace capra::cpu
