// A call that the graph does not allow is passed over.
#include "tests/targets/ga2/battery/wild_network.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "capra/base/number_text.h"

namespace capra::ga2 {
namespace {

class Builder {
 public:
  explicit Builder(int64_t seed)
      : random_(static_cast<uint64_t>(seed)), most_rows_(one_in(2) ? 9 : 60) {}

  Case run() {
    keep(input({1 + below(most_rows_), 1 + below(64)}));
    const int64_t calls = 2 + below(12);
    for (int64_t i = 0; i < calls; ++i) {
      if (Result<NodeIndex> node = call(); node.ok()) keep(*node);
    }
    (void)output(values_.back());
    Case made{std::move(case_.network), {draw(), draw()}, draw()};
    return made;
  }

 private:
  int64_t below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
  }
  bool one_in(int64_t count) { return below(count) == 0; }
  Network& network() { return case_.network; }
  Extents shape(NodeIndex node) { return network().node(node).shape; }
  void keep(NodeIndex node) {
    if (network().node(node).op != NodeOp::Argmax) values_.push_back(node);
  }

  // The later ones more often.
  NodeIndex any() {
    const int64_t count = std::ssize(values_);
    const int64_t last = one_in(2) ? std::min<int64_t>(count, 3) : count;
    return values_[static_cast<size_t>(count - 1 - below(last))];
  }

  Matrix<double> matrix(Extents extents, double size) {
    Matrix<double> made(extents.rows, extents.columns);
    for (double& value : made.values) {
      value = size * (static_cast<double>(below(2001)) / 1000 - 1);
    }
    return made;
  }

  NodeIndex input(Extents extents) {
    inputs_.emplace_back("x" + number_text(inputs_.size()), extents);
    return *network().input(inputs_.back().first, extents);
  }
  NodeIndex weight(Extents extents) {
    const double size = one_in(8) ? 0 : 0.1 * static_cast<double>(1 + below(20));
    return *network().weight("w" + number_text(network().size()), matrix(extents, size),
                             one_in(4) ? 4 : 8);
  }
  Result<NodeIndex> output(NodeIndex node) {
    return network().output(node, "o" + number_text(network().size()));
  }

  // What is there and fits, an input or a weight.
  NodeIndex partner(Extents extents) {
    for (int tries = 0; tries < 4; ++tries) {
      const NodeIndex one = any();
      if (shape(one) == extents) return one;
    }
    return one_in(2) ? input(extents) : weight(extents);
  }

  Result<NodeIndex> call() {
    const NodeIndex x = any();
    const Extents extents = shape(x);
    switch (below(12)) {
      case 0:
      case 1:
        return network().matmul(x, weight({extents.columns, 1 + below(12)}), false,
                                one_in(2) ? 1 : 0.25);
      case 2: {
        const NodeIndex b = one_in(2) ? any() : weight({1 + below(12), extents.columns});
        return network().matmul(x, b, true, 0.5);
      }
      case 3:
        return network().matmul(x, any());
      case 4: {
        Result<NodeIndex> product = network().matmul(x, weight({extents.columns, 1 + below(9)}));
        if (!product.ok()) return product;
        return network().relu(*product);
      }
      case 5:
        return network().softmax(x);
      case 6:
      case 7:
        return network().add(x, partner(extents));
      case 8:
        return network().concat_rows(x, partner({1 + below(4), extents.columns}));
      case 9: {
        const int64_t start = below(extents.rows);
        return network().slice_rows(x, start, 1 + below(extents.rows - start));
      }
      case 10: {
        Result<NodeIndex> place = network().argmax(x);
        if (place.ok()) (void)output(*place);
        return place;
      }
      default:
        if (Result<NodeIndex> there = output(x); !there.ok()) return there;
        return input({1 + below(most_rows_), 1 + below(64)});
    }
  }

  Sample draw() {
    Sample sample;
    for (const auto& [name, extents] : inputs_) sample[name] = matrix(extents, 2);
    return sample;
  }

  std::mt19937_64 random_;
  int64_t most_rows_;
  Case case_;
  std::vector<std::pair<std::string, Extents>> inputs_;
  std::vector<NodeIndex> values_;
};

}  // namespace

Case wild_case(int64_t seed) { return Builder(seed).run(); }

}  // namespace capra::ga2
