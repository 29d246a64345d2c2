// One reading an instruction; most go from one run to another of the same length.
#include "capra/targets/ga2/isa/access.h"

#include <utility>

namespace capra::ga2 {
namespace {

// `rows` runs of `length` words, `stride` apart.
std::vector<Words> rows_at(int64_t address, int64_t rows, int64_t length, int64_t stride) {
  std::vector<Words> all;
  all.reserve(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) all.push_back({address + row * stride, length});
  return all;
}

struct AccessOf {
  Access operator()(const Halt&) const { return {}; }
  Access operator()(const Load& one) const { return {{}, {{one.dst, one.len}}}; }
  Access operator()(const Store& one) const { return {{{one.src, one.len}}, {}}; }
  Access operator()(const Multiply& one) const {
    std::vector<Words> reads = rows_at(one.a, one.m, one.k, one.lda);
    const std::vector<Words> second =
        one.tb != 0 ? rows_at(one.b, one.n, one.k, one.ldb) : rows_at(one.b, one.k, one.n, one.ldb);
    reads.insert(reads.end(), second.begin(), second.end());
    return {std::move(reads), rows_at(one.dst, one.m, one.n, one.ldc)};
  }
  Access operator()(const Add& one) const {
    return {{{one.src1, one.len}, {one.src2, one.len}}, {{one.dst, one.len}}};
  }
  Access operator()(const Argmax& one) const { return {{{one.src, one.len}}, {{one.dst, 1}}}; }
  Access operator()(const Unpack& one) const {
    return {{{one.src, one.len}}, {{one.dst, kPackedValues * one.len}}};
  }
  template <class T>
  Access operator()(const T& one) const {
    return {{{one.src, one.len}}, {{one.dst, one.len}}};
  }
};

}  // namespace

Access access_of(const Instruction& instruction) { return std::visit(AccessOf{}, instruction); }

}  // namespace capra::ga2
