// What CPython 3.11 prints. `R` below is random.Random; each line is the program that printed the
// values.
#include "tests/support/python_random.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace capra {
namespace {

// [R(s).getrandbits(32) for s in (0, 1, 123456, 2**32 - 1, 2**32, -7, 2**62 + 5)]
TEST(PythonRandom, SeedsOfOneAndOfTwoWords) {
  const auto first = [](int64_t seed) { return PythonRandom(seed).getrandbits(32); };
  EXPECT_EQ(first(0), 3626764237);
  EXPECT_EQ(first(1), 577090037);
  EXPECT_EQ(first(123456), 3460142176);
  EXPECT_EQ(first((int64_t{1} << 32) - 1), 2728839433);
  EXPECT_EQ(first(int64_t{1} << 32), 485306839);
  EXPECT_EQ(first(-7), 1390851128);
  EXPECT_EQ(first((int64_t{1} << 62) + 5), 1911714291);
}

// [R(s).random() for s in (0, 11, 2**40)]
TEST(PythonRandom, FractionsOf53Bits) {
  EXPECT_EQ(PythonRandom(0).random(), 0.8444218515250481);
  EXPECT_EQ(PythonRandom(11).random(), 0.4523795535098186);
  EXPECT_EQ(PythonRandom(int64_t{1} << 40).random(), 0.1036394562812375);
}

// r = R(5); [r.getrandbits(k) for k in (1, 2, 7, 31, 32)]
TEST(PythonRandom, BitsAreTheHighest) {
  PythonRandom random(5);
  std::vector<uint32_t> drawn;
  drawn.reserve(5);
  for (const int bits : {1, 2, 7, 31, 32}) drawn.push_back(random.getrandbits(bits));
  EXPECT_EQ(drawn, (std::vector<uint32_t>{1, 1, 94, 769949150, 3415330359}));
}

// r = R(8); [r.getrandbits(32) for _ in range(1999)]; r.getrandbits(32)
TEST(PythonRandom, TheStateIsTwistedAgainAndAgain) {
  PythonRandom random(8);
  for (int i = 0; i < 1999; ++i) random.getrandbits(32);
  EXPECT_EQ(random.getrandbits(32), 1481813354u);
}

// r = R(9); [r.randrange(2, 20) for _ in range(12)], r.randrange(0, 1), r.randrange(-5, 2**31)
TEST(PythonRandom, RangesDrawUntilANumberIsInside) {
  PythonRandom random(9);
  std::vector<int64_t> drawn;
  drawn.reserve(12);
  for (int i = 0; i < 12; ++i) drawn.push_back(random.randrange(2, 20));
  EXPECT_EQ(drawn, (std::vector<int64_t>{16, 13, 10, 6, 7, 2, 12, 18, 16, 4, 12, 19}));
  EXPECT_EQ(random.randrange(0, 1), 0);
  EXPECT_EQ(random.randrange(-5, int64_t{1} << 31), 1627876798);
}

// r = R(3); [r.gauss(0, 1) for _ in range(5)], r.gauss(2, 0.5), r.random(), r.gauss(0, 1)
TEST(PythonRandom, GaussKeepsEverySecondValueForTheNextCall) {
  PythonRandom random(3);
  std::vector<double> drawn;
  drawn.reserve(5);
  for (int i = 0; i < 5; ++i) drawn.push_back(random.gauss(0, 1));
  EXPECT_EQ(drawn, (std::vector<double>{0.09470803828730423, 1.2500243810835503, -0.931378367720707,
                                        0.9923772805192402, -0.25915453769343405}));
  EXPECT_EQ(random.gauss(2, 0.5), 1.869244508009413);
  EXPECT_EQ(random.random(), 0.013167991554874137);
  EXPECT_EQ(random.gauss(0, 1), 0.4047541034683168);
}

// r = R(4); [r.choice("abcdefg") for _ in range(8)]
TEST(PythonRandom, ChoosesByRange) {
  PythonRandom random(4);
  std::string drawn;
  for (int i = 0; i < 8; ++i) drawn += random.choice(std::string("abcdefg"));
  EXPECT_EQ(drawn, "bcafddba");
}

}  // namespace
}  // namespace capra
