// The table of primitives, and the sink that computes with it.
#include "capra/interp/interp.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "capra/interp/primitive.h"
#include "capra/ir/structural_ops.h"
#include "capra/ops/abs.h"
#include "capra/ops/add.h"
#include "capra/ops/argmax.h"
#include "capra/ops/attention.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/compare.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/div.h"
#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/exp.h"
#include "capra/ops/gather.h"
#include "capra/ops/iota.h"
#include "capra/ops/log.h"
#include "capra/ops/logical_and.h"
#include "capra/ops/logical_not.h"
#include "capra/ops/logical_or.h"
#include "capra/ops/matmul.h"
#include "capra/ops/max.h"
#include "capra/ops/maximum.h"
#include "capra/ops/minimum.h"
#include "capra/ops/mul.h"
#include "capra/ops/neg.h"
#include "capra/ops/permute.h"
#include "capra/ops/reshape.h"
#include "capra/ops/select.h"
#include "capra/ops/slice.h"
#include "capra/ops/sqrt.h"
#include "capra/ops/sub.h"
#include "capra/ops/sum.h"
#include "capra/ops/tanh.h"

namespace capra {
namespace {

using interp::Call;
using interp::Primitive;

constexpr std::array kPrimitives = {
    Primitive{&kAbs, interp::run_abs},
    Primitive{&kAdd, interp::run_add},
    Primitive{&kArgmax, interp::run_argmax},
    Primitive{&kBroadcast, interp::run_broadcast},
    Primitive{&kCompare, interp::run_compare},
    Primitive{&kConcat, interp::run_concat},
    Primitive{&kConstant, interp::run_constant},
    Primitive{&kConvert, interp::run_convert},
    Primitive{&kDiv, interp::run_div},
    Primitive{&kErf, interp::run_erf},
    Primitive{&kErfc, interp::run_erfc},
    Primitive{&kExp, interp::run_exp},
    Primitive{&kGather, interp::run_gather},
    Primitive{&kIota, interp::run_iota},
    Primitive{&kLog, interp::run_log},
    Primitive{&kLogicalAnd, interp::run_logical_and},
    Primitive{&kLogicalNot, interp::run_logical_not},
    Primitive{&kLogicalOr, interp::run_logical_or},
    Primitive{&kMatmul, interp::run_matmul},
    Primitive{&kMax, interp::run_max},
    Primitive{&kMaximum, interp::run_maximum},
    Primitive{&kMinimum, interp::run_minimum},
    Primitive{&kMul, interp::run_mul},
    Primitive{&kNeg, interp::run_neg},
    Primitive{&kPermute, interp::run_permute},
    Primitive{&kReshape, interp::run_reshape},
    Primitive{&kSelect, interp::run_select},
    Primitive{&kSlice, interp::run_slice},
    Primitive{&kSqrt, interp::run_sqrt},
    Primitive{&kSub, interp::run_sub},
    Primitive{&kSum, interp::run_sum},
    Primitive{&kTanh, interp::run_tanh},
};

std::span<const int32_t> numbers(const Tensor& tensor) { return tensor.array().as<int32_t>(); }

// The decomposition takes the numbers of a packed batch on trust.
void check_attention(std::span<const Tensor> operands) {
  const auto operand = [&](size_t index) {
    return index < operands.size() ? operands[index] : Tensor();
  };
  const Tensor q = operand(0);
  const Tensor offsets = operand(3);
  const Tensor key_lengths = operand(4);
  int64_t sequences = 1;
  if (offsets) {
    check_attention_offsets(numbers(offsets), q.array().sizes()[0]).or_throw();
    sequences = static_cast<int64_t>(numbers(offsets).size()) - 1;
  }
  if (key_lengths) check_attention_key_lengths(numbers(key_lengths), sequences).or_throw();
}

constexpr auto kPrimitiveOps = [] {
  std::array<const OpDef*, kPrimitives.size()> ops{};
  for (size_t i = 0; i < ops.size(); ++i) ops[i] = kPrimitives[i].op;
  return ops;
}();

class InterpSink : public Sink {
 public:
  InterpSink(const Parameters* parameters, std::shared_ptr<ThreadPool> pool)
      : parameters_(parameters), pool_(std::move(pool)) {}

  Tensor apply(const Context& self, const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
               TensorType result) override {
    if (&op == &kAttention) check_attention(operands);
    const auto primitive = std::ranges::find(kPrimitives, &op, &Primitive::op);
    if (primitive == kPrimitives.end()) {
      if (op.decompose != nullptr) return op.decompose(operands, attrs);
      throw Error({"op-not-legal",
                   "the oracle has no meaning for " + std::string(op.name) +
                       ", and it has no decomposition",
                   scope(), "give the record a decomposition"});
    }
    if (!result.shape.is_static()) {
      throw Error({"symbol-unbound",
                   "the result " + result.text() + " of " + std::string(op.name) +
                       " has a dim without a value",
                   scope(), "bind it by an input whose shape has this dim"});
    }
    std::vector<Array> arrays;
    arrays.reserve(operands.size());
    for (const Tensor& operand : operands) arrays.push_back(operand.array());
    result.dtype = interp::held(result.dtype);
    // Of nothing, nothing is read: the other extents may be of any size.
    if (result.shape.elements() == 0) {
      return Tensor::of_data(self, Array::zeros(result.dtype, result.shape.sizes()));
    }
    const Call call{arrays, attrs, result, pool()};
    return Tensor::of_data(self, primitive->run(call));
  }

  Tensor parameter(const Context& self, std::string_view path, TensorType type) override {
    const auto missing = [&] {
      return Error({"parameter-missing", "there is no data for a parameter of the model",
                    std::string(path), "give data under this path"});
    };
    if (parameters_ == nullptr) throw missing();
    const auto found = parameters_->find(path);
    if (found == parameters_->end()) throw missing();
    if (found->second.type() != type) {
      throw Error(
          {"parameter-type",
           "the model takes " + type.text() + ", the data is " + found->second.type().text(),
           std::string(path)});
    }
    return Tensor::of_data(self, interp_array(found->second));
  }

  void enter_scope(std::string_view name) override { scopes_.emplace_back(name); }
  void leave_scope() override { scopes_.pop_back(); }

 private:
  ThreadPool& pool() {
    if (pool_ == nullptr) pool_ = std::make_shared<ThreadPool>();
    return *pool_;
  }

  std::string scope() const {
    std::string path;
    for (const std::string& name : scopes_) path += (path.empty() ? "" : ".") + name;
    return path;
  }

  const Parameters* parameters_;
  std::shared_ptr<ThreadPool> pool_;
  std::vector<std::string> scopes_;
};

// Floats may come as f64, in which the oracle computes, whatever the graph declares.
Status check_dtype(const Node& node, const Array& given) {
  const DType declared = node.type.dtype;
  if (given.dtype() == declared) return {};
  if (is_float(declared) && given.dtype() == DType::F64) return {};
  return fail("input-type",
              "the graph takes " + node.type.text() + ", the run was given " + given.type().text(),
              "input '" + node.attrs_as<InputAttrs>().name + "'",
              "give data of the type that the graph declares");
}

}  // namespace

Context interp_context(const Parameters* parameters, std::shared_ptr<ThreadPool> pool) {
  return Context(std::make_shared<InterpSink>(parameters, std::move(pool)));
}

Array interp_array(const Array& array) {
  if (!is_float(array.dtype()) || array.dtype() == DType::F64) return array;
  Array wide = Array::zeros(DType::F64, array.sizes());
  const std::span<double> out = wide.mutable_as<double>();
  if (array.dtype() == DType::F32) {  // most of what there is
    std::ranges::copy(array.as<float>(), out.begin());
    return wide;
  }
  for (size_t i = 0; i < out.size(); ++i) out[i] = array.f64_at(static_cast<int64_t>(i));
  return wide;
}

Result<std::vector<Array>> interpret(const Graph& graph, std::span<const Array> inputs,
                                     const Parameters& parameters,
                                     std::shared_ptr<ThreadPool> pool) {
  const Context context = interp_context(&parameters, std::move(pool));
  const std::vector<NodeId> ids = graph.inputs();
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < ids.size()) CAPRA_TRY(check_dtype(graph.node(ids[i]), inputs[i]));
    tensors.push_back(Tensor::of_data(context, interp_array(inputs[i])));
  }
  try {
    std::vector<Array> outputs;
    for (const Tensor& output : replay(graph, context, tensors)) outputs.push_back(output.array());
    return outputs;
  } catch (const Error& error) {
    return fail(error.diagnostic());
  } catch (const std::bad_alloc&) {
    return fail("out-of-memory", "there is not enough memory for the values of this graph",
                graph.name(), "run it on smaller inputs");
  }
}

OpSet interp_primitives() { return kPrimitiveOps; }

}  // namespace capra
