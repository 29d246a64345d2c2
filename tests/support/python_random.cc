// The generator of Matsumoto and Nishimura (1998) with their seeding by an array (2002), and what
// CPython's Modules/_randommodule.c and Lib/random.py make of its words.
#include "tests/support/python_random.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace capra {

PythonRandom::PythonRandom(int64_t seed) {
  state_[0] = 19650218;
  for (uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  const uint64_t size = seed < 0 ? -static_cast<uint64_t>(seed) : static_cast<uint64_t>(seed);
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(size),
                                       static_cast<uint32_t>(size >> 32)};
  const uint32_t key_words = key[1] == 0 ? 1 : 2;

  size_t at = 1;
  uint32_t word = 0;
  const auto step = [&] {
    if (++at < kWords) return;
    state_[0] = state_[kWords - 1];
    at = 1;
  };
  const auto mixed = [&](uint32_t factor) {
    return state_[at] ^ ((state_[at - 1] ^ (state_[at - 1] >> 30)) * factor);
  };
  for (size_t i = 0; i < kWords; ++i) {
    state_[at] = mixed(1664525) + key[word] + word;
    step();
    word = (word + 1) % key_words;
  }
  for (size_t i = 0; i + 1 < kWords; ++i) {
    state_[at] = mixed(1566083941) - static_cast<uint32_t>(at);
    step();
  }
  state_[0] = 0x80000000;
}

void PythonRandom::twist() {
  constexpr size_t kDistance = 397;
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t joined = (state_[i] & 0x80000000) | (state_[(i + 1) % kWords] & 0x7fffffff);
    state_[i] =
        state_[(i + kDistance) % kWords] ^ (joined >> 1) ^ ((joined & 1) != 0 ? 0x9908b0dfu : 0);
  }
  used_ = 0;
}

uint32_t PythonRandom::next_word() {
  if (used_ == kWords) twist();
  uint32_t word = state_[used_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680;
  word ^= (word << 15) & 0xefc60000;
  return word ^ (word >> 18);
}

double PythonRandom::random() {
  const double high = next_word() >> 5;
  const double low = next_word() >> 6;
  return (high * 67108864 + low) / 9007199254740992;
}

uint32_t PythonRandom::getrandbits(int bits) { return next_word() >> (32 - bits); }

int64_t PythonRandom::randrange(int64_t start, int64_t stop) {
  const auto width = static_cast<uint64_t>(stop - start);
  const int bits = static_cast<int>(std::bit_width(width));
  uint32_t drawn = getrandbits(bits);
  while (drawn >= width) drawn = getrandbits(bits);
  return start + drawn;
}

double PythonRandom::gauss(double mean, double deviation) {
  double one = 0;
  if (second_gauss_) {
    one = *second_gauss_;
    second_gauss_.reset();
  } else {
    const double angle = random() * (2 * std::numbers::pi);
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random()));
    one = std::cos(angle) * radius;
    second_gauss_ = std::sin(angle) * radius;
  }
  return mean + one * deviation;
}

}  // namespace capra
