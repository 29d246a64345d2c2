// Every draw stands in the order of the publication's script, capra_tests.py, whose names are kept
// where they say enough.
#include "tests/targets/ga2/battery/random_network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "capra/base/number_text.h"
#include "tests/targets/ga2/battery/wild_network.h"

namespace capra::ga2 {
namespace {

// An input, and the size of the numbers that it is given.
struct NewInput {
  std::string name;
  Extents shape;
  double deviation = 1;
};

Sample draw_sample(const std::vector<NewInput>& inputs, PythonRandom& random) {
  Sample sample;
  for (const NewInput& one : inputs) {
    sample[one.name] = normal_matrix(random, one.shape, one.deviation);
  }
  return sample;
}

// Builds a graph; all that it makes is valid, whatever is drawn.
class Builder {
 public:
  Builder(int64_t seed, int bits) : random(seed), bits_(bits) {}

  Extents shape(NodeIndex node) const { return network.node(node).shape; }

  NodeIndex input(Extents shape, double deviation) {
    inputs.push_back({"in" + number_text(inputs.size()), shape, deviation});
    return *network.input(inputs.back().name, shape);
  }

  NodeIndex weight(int64_t rows, int64_t columns) {
    const std::string name = "w" + number_text(network.size());
    const double deviation = 1 / std::sqrt(static_cast<double>(rows));
    return *network.weight(name, normal_matrix(random, {rows, columns}, deviation), bits_);
  }

  // A product with a new weight of a width in [low, high).
  NodeIndex product(NodeIndex x, int64_t low, int64_t high, double factor = 1) {
    const int64_t columns = random.randrange(low, high);
    return *network.matmul(x, weight(shape(x).columns, columns), false, factor);
  }

  NodeIndex scores(NodeIndex x, NodeIndex keys) {
    return *network.matmul(x, keys, true, 1 / std::sqrt(static_cast<double>(shape(x).columns)));
  }

  void output(NodeIndex x, std::string name) {
    CAPRA_CHECK(network.output(x, std::move(name)).ok());
  }

  // The size of a tensor's numbers in a sample: what is added to it or stands beside it is to be as
  // large.
  double deviation_of(NodeIndex node) const {
    PythonRandom other(0);
    const std::vector<Matrix<double>> values = evaluate(network, draw_sample(inputs, other));
    const std::vector<double>& flat = values[static_cast<size_t>(node)].values;
    double sum = 0;
    for (const double x : flat) sum += x * x;
    return std::max(1e-3, std::sqrt(sum / static_cast<double>(flat.size())));
  }

  Network network;
  std::vector<NewInput> inputs;
  PythonRandom random;

 private:
  int bits_;
};

NodeIndex add_partner(Builder& build, NodeIndex current, const std::vector<NodeIndex>& pool) {
  const Extents shape = build.shape(current);
  std::vector<NodeIndex> same;
  std::ranges::copy_if(pool, std::back_inserter(same),
                       [&](NodeIndex one) { return build.shape(one) == shape && one != current; });
  return same.empty() ? build.input(shape, build.deviation_of(current)) : build.random.choice(same);
}

Builder random_graph(int64_t seed, int bits) {
  static const std::vector<std::string_view> kKinds = {"matmul",  "matmul", "matmul_relu", "scores",
                                                       "softmax", "add",    "concat"};
  Builder build(seed, bits);
  PythonRandom& random = build.random;
  Network& network = build.network;
  const int64_t rows = random.randrange(1, 7);
  const int64_t columns = random.randrange(2, 20);
  NodeIndex current = build.input({rows, columns}, 1);
  std::vector<NodeIndex> pool = {current};
  std::set<NodeIndex> in_concat;
  // One product with itself at most: no scale serves repeated squares.
  bool used_scores = false;
  const int64_t steps = random.randrange(3, 8);
  for (int64_t step = 0; step < steps; ++step) {
    const Extents shape = build.shape(current);
    const std::string_view kind = random.choice(kKinds);
    if (kind == "matmul") {
      current = build.product(current, 1, 11);
    } else if (kind == "matmul_relu") {
      current = *network.relu(build.product(current, 1, 11));
    } else if (kind == "scores" && shape.columns <= 64 && !used_scores) {
      used_scores = true;
      current = build.scores(current, current);
    } else if (kind == "softmax") {
      current = *network.softmax(build.product(current, 2, 9, 0.5));
    } else if (kind == "add") {
      current = *network.add(current, add_partner(build, current, pool));
    } else if (kind == "concat" && shape.rows <= 9 && !in_concat.contains(current)) {
      const int64_t more = random.randrange(1, 4);
      const NodeIndex extra = build.input({more, shape.columns}, build.deviation_of(current));
      in_concat.insert({current, extra});
      current = *network.concat_rows(current, extra);
    }
    pool.push_back(current);
  }
  if (random.random() < 0.3) build.output(*network.argmax(current), "tok");
  build.output(current, "out");
  if (pool.size() > 2 && random.random() < 0.3 && !in_concat.contains(pool[1])) {
    build.output(pool[1], "mid");
  }
  return build;
}

// What is computed from a slice of `source`.
NodeIndex use_of_slice(Builder& build, NodeIndex slice, NodeIndex source) {
  static const std::vector<std::string_view> kKinds = {"matmul", "softmax", "scores", "argmax"};
  Network& network = build.network;
  const std::string_view kind = build.random.choice(kKinds);
  if (kind == "matmul") return build.product(slice, 2, 7);
  if (kind == "softmax") return *network.softmax(build.product(slice, 2, 7, 0.5));
  if (kind == "argmax") return *network.argmax(build.product(slice, 2, 7));
  return build.scores(slice, *network.slice_rows(source, 0, build.shape(source).rows));
}

Builder random_slice_graph(int64_t seed) {
  Builder build(seed, 8);
  PythonRandom& random = build.random;
  Network& network = build.network;
  const int64_t rows = random.randrange(4, 10);
  const int64_t columns = random.randrange(3, 14);
  const NodeIndex x = build.input({rows, columns}, 1);
  const NodeIndex y = build.product(x, 3, 9);
  const int64_t more = random.randrange(1, 4);
  const NodeIndex extra = build.input({more, build.shape(y).columns}, 1);
  const NodeIndex joined = *network.concat_rows(y, extra);
  const int64_t weight_rows = random.randrange(3, 8);
  const NodeIndex weight = build.weight(weight_rows, random.randrange(2, 6));
  const std::vector<NodeIndex> sources = {joined, y, x, weight};
  const int64_t outputs = random.randrange(2, 5);
  for (int64_t k = 0; k < outputs; ++k) {
    const NodeIndex source = random.choice(sources);
    const int64_t source_rows = build.shape(source).rows;
    const int64_t start = random.randrange(0, source_rows);
    const int64_t count = random.randrange(1, source_rows - start + 1);
    NodeIndex slice = *network.slice_rows(source, start, count);
    if (random.random() < 0.3 && count > 1) {
      slice = *network.slice_rows(slice, 0, random.randrange(1, count + 1));
    }
    build.output(use_of_slice(build, slice, source), "o" + number_text(k));
  }
  build.output(joined, "cat");
  return build;
}

}  // namespace

Matrix<double> normal_matrix(PythonRandom& random, Extents shape, double deviation) {
  Matrix<double> matrix(shape.rows, shape.columns);
  for (double& value : matrix.values) value = random.gauss(0, deviation);
  return matrix;
}

std::string_view case_kind_name(CaseKind kind) {
  switch (kind) {
    case CaseKind::Graph:
      return "graph";
    case CaseKind::Int4:
      return "int4";
    case CaseKind::Slice:
      return "slice";
    case CaseKind::Fresh:
      return "fresh";
    case CaseKind::Wild:
      return "wild";
  }
  CAPRA_CHECK(false);
}

Case random_case(CaseKind kind, int64_t seed) {
  if (kind == CaseKind::Wild) return wild_case(seed);
  const Builder build = kind == CaseKind::Slice
                            ? random_slice_graph(seed)
                            : random_graph(seed, kind == CaseKind::Int4 ? 4 : 8);
  PythonRandom random(kind == CaseKind::Fresh ? seed : seed * 7 + 1);
  Case made;
  made.network = build.network;
  for (int i = 0; i < 30; ++i) made.calibration.push_back(draw_sample(build.inputs, random));
  made.test = draw_sample(build.inputs, random);
  return made;
}

Case cancellation_case() {
  PythonRandom random(1);
  constexpr Extents kShape = {3, 6};
  Case made;
  const NodeIndex x = *made.network.input("x", kShape);
  const NodeIndex y = *made.network.input("y", kShape);
  const NodeIndex sum = *made.network.add(x, y);
  const NodeIndex w = *made.network.weight("w", normal_matrix(random, {6, 4}, 0.4));
  const NodeIndex product = *made.network.matmul(sum, w);
  CAPRA_CHECK(made.network.output(product, "o").ok());
  const auto draw = [&] {
    Sample sample;
    sample["x"] = normal_matrix(random, kShape, 3);
    sample["y"] = sample["x"];
    for (double& value : sample["y"].values) value = -value + random.gauss(0, 0.05);
    return sample;
  };
  for (int i = 0; i < 20; ++i) made.calibration.push_back(draw());
  made.test = draw();
  return made;
}

}  // namespace capra::ga2
