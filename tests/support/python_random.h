// The numbers of Python's `random.Random`, so that a seed means here what it means in a Python
// script.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

namespace capra {

/// `random.Random(seed)` of CPython 3: the Mersenne Twister, seeded by the words of the seed. gauss
/// takes log, sin and cos of the C library, as CPython does.
class PythonRandom {
 public:
  /// Negative seeds are those of their absolute value.
  explicit PythonRandom(int64_t seed);

  /// In [0, 1), of 53 bits.
  double random();
  /// `bits` random bits, 1 to 32.
  uint32_t getrandbits(int bits);
  /// In [start, stop); stop is above start, by less than 2^32.
  int64_t randrange(int64_t start, int64_t stop);
  /// Every second call returns what the one before it made beside its own.
  double gauss(double mean, double deviation);

  /// An element of a list that is not empty.
  template <class List>
  const typename List::value_type& choice(const List& list) {
    return list[static_cast<size_t>(randrange(0, std::ssize(list)))];
  }

 private:
  static constexpr size_t kWords = 624;

  uint32_t next_word();
  void twist();

  std::array<uint32_t, kWords> state_{};
  size_t used_ = kWords;
  std::optional<double> second_gauss_;
};

}  // namespace capra
