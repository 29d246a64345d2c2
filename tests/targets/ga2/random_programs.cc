// Instructions are drawn until one is legal.
#include "tests/targets/ga2/random_programs.h"

#include <algorithm>
#include <array>
#include <span>

#include "capra/targets/ga2/isa/program_check.h"

namespace capra::ga2 {
namespace {

// As many as the scratchpad has, so that one load can fill it.
constexpr uint32_t kLeastExternal = 4096;

class Draw {
 public:
  Draw(std::mt19937_64& random, uint32_t external_words)
      : random_(random), external_words_(external_words) {}

  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  bool one_in(uint32_t count) { return below(count) == 0; }
  uint32_t any_of(std::initializer_list<uint32_t> choices) {
    return choices.begin()[below(static_cast<uint32_t>(choices.size()))];
  }

  // Words of every magnitude and both signs, with the ends.
  uint32_t word() {
    if (one_in(16)) return any_of({0, 1, 127, 128, 0xff, 0x7fffffff, 0x80000000, 0xffffffff});
    if (one_in(2)) return below(256) - 128;
    return static_cast<uint32_t>(static_cast<int32_t>(random_()) >> below(32));
  }

  Instruction legal() {
    while (true) {
      const Instruction one = any();
      const std::array<Instruction, 2> program = {one, Halt{}};
      if (check_program(program, external_words_).ok()) return one;
    }
  }

 private:
  uint32_t address() {
    if (one_in(8)) return 0;
    const auto words = static_cast<uint32_t>(kScratchpadWords);
    return one_in(8) ? words - 1 - below(70) : below(words);
  }
  uint32_t external_address() {
    if (one_in(8)) return 0;
    return one_in(8) ? external_words_ - 1 - below(70) : below(external_words_);
  }
  uint32_t length() {
    if (one_in(40)) return any_of({511, 512, 513, 1024, 2048, 4096});
    if (one_in(3)) return any_of({1, 2, 3, 4, 8, 63, 64, 65});
    return 1 + below(60);
  }
  uint32_t stride() { return one_in(16) ? below(1300) : below(70); }

  // A shift for which many results are neither 0 nor at an end.
  Requantize requantization(uint32_t src) {
    Requantize one{address(), src, length(), below(1u << 24), below(64), below(2)};
    if (one_in(4)) one.m = any_of({0, 1, 1u << 23, (1u << 24) - 1});
    if (!one_in(4)) one.s = 16 + below(28);
    // Halves of small numbers.
    if (one_in(4)) one.m = 1u << 23, one.s = 24 + below(4);
    if (one_in(3)) one.dst = src;
    return one;
  }

  Instruction any() {
    const uint32_t src = address();
    switch (below(8)) {
      case 0:
        return Load{src, external_address(), length()};
      case 1:
        return Store{src, external_address(), length()};
      case 2: {
        Multiply one{address(),    src,      address(), 1 + below(4), 1 + below(64),
                     1 + below(4), below(2), stride(),  stride(),     stride()};
        if (one_in(2)) one.k = any_of({1, 2, 3, 4, 63, 64});
        if (one_in(2)) one.lda = one.k;
        if (one_in(2)) one.ldb = one.tb != 0 ? one.k : one.n;
        if (one_in(2)) one.ldc = one.n;
        if (one.m == 1 && one_in(4)) one.lda = one.ldc = any_of({0, 4096, 8191});
        return one;
      }
      case 3:
        return requantization(src);
      case 4:
        return Softmax{one_in(3) ? src : address(), src, length()};
      case 5: {
        Add one{address(), src, one_in(4) ? src : address(), length()};
        if (one_in(3)) one.dst = one_in(2) ? one.src1 : one.src2;
        return one;
      }
      case 6:
        return Argmax{address(), src, length()};
      default:
        return Unpack{address(), src, length()};
    }
  }

  std::mt19937_64& random_;
  uint32_t external_words_;
};

RandomProgram begun(Draw& draw, uint32_t external_words) {
  RandomProgram made;
  made.external.resize(external_words);
  for (uint32_t& word : made.external) word = draw.word();
  return made;
}

}  // namespace

RandomProgram random_program(std::mt19937_64& random) {
  const uint32_t external_words = kLeastExternal + static_cast<uint32_t>(random() % 2048);
  Draw draw(random, external_words);
  RandomProgram made = begun(draw, external_words);
  const uint32_t filled = draw.one_in(4) ? 4096 : 1024;
  made.instructions.emplace_back(
      Load{draw.below(4097 - filled), draw.below(external_words + 1 - filled), filled});
  const uint32_t count = 4 + draw.below(28);
  for (uint32_t i = 0; i < count; ++i) made.instructions.push_back(draw.legal());
  made.instructions.emplace_back(Halt{});
  return made;
}

RandomProgram every_shape(std::mt19937_64& random) {
  Draw draw(random, kLeastExternal);
  RandomProgram made = begun(draw, kLeastExternal);
  made.instructions.emplace_back(Load{0, 0, 1024});
  uint32_t dst = 1024;
  for (uint32_t m = 1; m <= 4; ++m) {
    for (uint32_t n = 1; n <= 4; ++n) {
      for (const uint32_t k : {1u, 2u, 5u, 64u}) {
        for (uint32_t tb = 0; tb < 2; ++tb) {
          const uint32_t ldb = tb != 0 ? k + 1 : n + 2;
          made.instructions.emplace_back(Multiply{dst, 5, 400, m, k, n, tb, k + 3, ldb, n + 1});
          dst += m * (n + 1);
        }
      }
    }
  }
  made.instructions.emplace_back(Halt{});
  return made;
}

}  // namespace capra::ga2
