// A fixed sequence of numbers, the same on every machine: splitmix64, as
// published by Steele, Lea and Flood.
#pragma once

#include <cstdint>

namespace capra::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// In [0, bound).
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(bound));
  }
  bool chance(int64_t of) { return below(of) == 0; }
  /// In [-2, 2), exact in f32.
  double number() { return static_cast<double>(next() >> 43) * 0x1p-19 - 2.0; }
  /// 24 random bits in [-1, 1).
  float signed_unit() { return static_cast<float>(next() >> 40) * 0x1p-23F - 1.0F; }

 private:
  uint64_t state_;
};

}  // namespace capra::testing
