// The meaning of the head, in ops: what the oracle evaluates and programs of other machines end in.
#include <limits>
#include <memory>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/interp/interp.h"
#include "capra/ir/graph.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/compare.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/gather.h"
#include "capra/ops/iota.h"
#include "capra/ops/max.h"
#include "capra/ops/maximum.h"
#include "capra/ops/minimum.h"
#include "capra/ops/reshape.h"
#include "capra/ops/select.h"
#include "capra/ops/slice.h"
#include "capra/ops/sqrt.h"
#include "capra/ops/sum.h"
#include "models/sentence_head.h"

namespace capra {
namespace {

constexpr double kLeastLength = 1e-12;  // as torch.nn.functional.normalize has it

std::string dense_path(size_t index) { return "head.dense." + number_text(index); }

// One sequence of states, and which of its tokens count. What is asked for is made once.
class Sequence {
 public:
  Sequence(Tensor hidden, int64_t prompt_tokens)
      : hidden_(std::move(hidden)), prompt_tokens_(prompt_tokens) {}

  Tensor pooled(Pooling pooling) {
    switch (pooling) {
      case Pooling::Cls: {
        const Tensor row = slice(hidden_, {.starts = {0, 0}, .limits = Shape{1, width()}});
        return reshape(row, {width()});
      }
      case Pooling::LastToken: {
        const Tensor row = gather(hidden_, last());
        return reshape(row, {width()});
      }
      case Pooling::Max:
        return max(counted(-std::numeric_limits<double>::infinity()), {.axes = {0}});
      case Pooling::Mean: {
        const Tensor sums = sum(counted(0), {.axes = {0}});
        const Tensor divisor = count();
        return sums / divisor;
      }
      case Pooling::MeanSqrtLen: {
        const Tensor sums = sum(counted(0), {.axes = {0}});
        const Tensor divisor = sqrt(count());
        return sums / divisor;
      }
      case Pooling::WeightedMean: {
        const Tensor weights = convert(places(), hidden_.dtype());
        const Tensor column = reshape(weights, {tokens(), 1});
        const Tensor weighted = counted(0) * column;
        const Tensor sums = sum(weighted, {.axes = {0}});
        const Tensor divisor = sum(weights, {.axes = {0}, .keep_dims = true});
        return sums / divisor;
      }
    }
    CAPRA_CHECK(false);
  }

 private:
  Dim tokens() const { return hidden_.shape()[0]; }
  Dim width() const { return hidden_.shape()[1]; }

  // Of each token, i32[tokens].
  const Tensor& index() {
    if (!index_) {
      index_ = iota(hidden_.context(), {.dtype = DType::I32, .shape = Shape{tokens()}, .axis = 0});
    }
    return index_;
  }

  // How many tokens there are, i32[1].
  const Tensor& all() {
    if (!all_) {
      const Tensor one = constant(hidden_.context(), Array::scalar(DType::I32, 1));
      const Tensor ones = broadcast(one, Shape{tokens()});
      all_ = sum(ones, {.axes = {0}, .keep_dims = true});
    }
    return all_;
  }

  Tensor last() { return all() - 1; }

  // The first token that counts, i32[1]; only with a prompt.
  const Tensor& first() {
    if (!first_) {
      const Tensor end = last();
      first_ = minimum(end, scalar_like(end, static_cast<double>(prompt_tokens_)));
    }
    return first_;
  }

  // 1, 2, ... for tokens that count, 0 before them.
  Tensor places() {
    if (prompt_tokens_ == 0) return index() + 1;
    const Tensor start = first();
    const Tensor before = index() - start;
    const Tensor from_one = before + 1;
    return maximum(from_one, scalar_like(from_one, 0));
  }

  // How many tokens count, as a float [1].
  Tensor count() {
    if (prompt_tokens_ == 0) return convert(all(), hidden_.dtype());
    const Tensor start = first();
    const Tensor rest = all() - start;
    return convert(rest, hidden_.dtype());
  }

  // The states with `otherwise` for tokens that do not count.
  Tensor counted(double otherwise) {
    if (prompt_tokens_ == 0) return hidden_;
    const Tensor start = first();
    const Tensor counts = compare(index(), start, {.direction = "ge"});
    const Tensor column = reshape(counts, {tokens(), 1});
    return select(column, hidden_, scalar_like(hidden_, otherwise));
  }

  Tensor hidden_;
  int64_t prompt_tokens_;
  Tensor index_;
  Tensor all_;
  Tensor first_;
};

Tensor normalized(const Tensor& x) {
  const Tensor squares = x * x;
  const Tensor square = sum(squares, {.axes = {0}, .keep_dims = true});
  const Tensor length = sqrt(square);
  const Tensor divisor = maximum(length, scalar_like(length, kLeastLength));
  return x / divisor;
}

}  // namespace

Tensor SentenceHead::pooled(const Tensor& hidden, int64_t prompt_tokens) const {
  const Scope scope(hidden.context(), "pooling");
  std::vector<Tensor> parts;
  for (const Pooling pooling : poolings_) {
    const int64_t skipped = pooling == Pooling::Cls ? 0 : prompt_tokens;
    parts.push_back(Sequence(hidden, skipped).pooled(pooling));
  }
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

Tensor SentenceHead::finished(const Tensor& pooled) const {
  const Scope scope(pooled.context(), "head");
  Tensor x = pooled;
  size_t layer = 0;
  for (const Step& step : steps_) {
    if (const auto* dense = std::get_if<DenseStep>(&step)) {
      const nn::Linear linear(dense_path(layer++), dense->in, dense->out, dense->bias.has_value());
      const Tensor row = reshape(x, {1, dense->in});
      const Tensor product = linear(row);
      const Tensor flat = reshape(product, {dense->out});
      x = nn::activate(dense->activation, flat);
    } else {
      x = normalized(x);
    }
  }
  return x;
}

Parameters SentenceHead::parameters() const {
  Parameters data;
  size_t layer = 0;
  for (const Step& step : steps_) {
    const auto* dense = std::get_if<DenseStep>(&step);
    if (dense == nullptr) continue;
    const std::string path = dense_path(layer++);
    data.emplace(path + ".weight", dense->weight);
    if (dense->bias) data.emplace(path + ".bias", *dense->bias);
  }
  return data;
}

std::vector<double> SentenceHead::apply_exact(std::span<const double> hidden, int64_t tokens,
                                              std::vector<double>* pooled_states,
                                              int64_t prompt_tokens) const {
  const Context context = TraceSink::begin("head");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor states = sink.input(context, "hidden", {DType::F32, {tokens, hidden_size_}});
  const Tensor pool = pooled(states, prompt_tokens);
  sink.output(pool, "pooled");
  sink.output(finished(pool), "vector");
  const Array given = Array::of<double>(DType::F64, {tokens, hidden_size_}, hidden);
  const std::vector<Array> outputs = interpret(build_graph(sink.take_tape()), {&given, 1},
                                               parameters(), std::make_shared<ThreadPool>(1))
                                         .value_or_throw();
  const auto numbers = [](const Array& array) {
    const std::span<const double> values = array.as<double>();
    return std::vector<double>(values.begin(), values.end());
  };
  if (pooled_states != nullptr) *pooled_states = numbers(outputs[0]);
  return numbers(outputs[1]);
}

}  // namespace capra
