// Every access of an instruction is a range of words; the ranges are checked before anything runs.
#include "capra/targets/ga2/isa/program_check.h"

#include <string>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/isa/fields.h"
#include "capra/targets/ga2/isa/listing.h"

namespace capra::ga2 {
namespace {

// Words from `begin` to one before `end`.
struct Range {
  std::string_view operand;
  int64_t begin = 0;
  int64_t end = 0;
};

Range words(std::string_view operand, int64_t begin, int64_t count) {
  return {operand, begin, begin + count};
}

// From the first word of a matrix to its last; what lies between rows counts.
Range matrix(std::string_view operand, int64_t begin, int64_t rows, int64_t columns,
             int64_t stride) {
  return {operand, begin, begin + (rows - 1) * stride + columns};
}

bool overlap(const Range& x, const Range& y) { return x.begin < y.end && y.begin < x.end; }

std::string range_text(const Range& range) {
  return std::string(range.operand) + " = " + number_text(range.begin) + " to " +
         number_text(range.end - 1);
}

// The reason why an instruction is illegal, or nothing.
struct Illegality {
  int64_t external_words;

  std::string operator()(const Halt&) const { return {}; }

  std::string operator()(const Load& one) const {
    std::string reason = count(one.len);
    if (reason.empty()) reason = inside(words("dst", one.dst, one.len));
    if (reason.empty()) reason = inside_external(words("src", one.src, one.len));
    return reason;
  }

  std::string operator()(const Store& one) const {
    std::string reason = count(one.len);
    if (reason.empty()) reason = inside(words("src", one.src, one.len));
    if (reason.empty()) reason = inside_external(words("dst", one.dst, one.len));
    return reason;
  }

  std::string operator()(const Multiply& one) const {
    if (one.m < 1 || one.m > kTile || one.n < 1 || one.n > kTile) {
      return "M and N are 1 to " + number_text(kTile);
    }
    if (one.k < 1 || one.k > kMostInner) return "K is 1 to " + number_text(kMostInner);
    const Range result = matrix("dst", one.dst, one.m, one.n, one.ldc);
    const Range a = matrix("A", one.a, one.m, one.k, one.lda);
    const Range b = one.tb != 0 ? matrix("B", one.b, one.n, one.k, one.ldb)
                                : matrix("B", one.b, one.k, one.n, one.ldb);
    if (one.m > 1 && one.ldc < one.n) return "rows of the result lie on each other: ldc below N";
    std::string reason = apart(result, a);
    return reason.empty() ? apart(result, b) : reason;
  }

  std::string operator()(const Requantize& one) const {
    return element_wise(words("dst", one.dst, one.len), words("src", one.src, one.len));
  }

  std::string operator()(const Softmax& one) const {
    return element_wise(words("dst", one.dst, one.len), words("src", one.src, one.len));
  }

  std::string operator()(const Add& one) const {
    const Range result = words("dst", one.dst, one.len);
    std::string reason = element_wise(result, words("src1", one.src1, one.len));
    return reason.empty() ? element_wise(result, words("src2", one.src2, one.len)) : reason;
  }

  std::string operator()(const Argmax& one) const {
    const std::string reason = count(one.len);
    return reason.empty() ? apart(words("dst", one.dst, 1), words("src", one.src, one.len))
                          : reason;
  }

  std::string operator()(const Unpack& one) const {
    const std::string reason = count(one.len);
    return reason.empty() ? apart(words("dst", one.dst, kPackedValues * one.len),
                                  words("src", one.src, one.len))
                          : reason;
  }

 private:
  static std::string count(uint32_t len) { return len < 1 ? "len is 1 or more" : ""; }

  static std::string inside(const Range& range) {
    if (range.end <= kScratchpadWords) return {};
    return range_text(range) + ", the scratchpad has " + number_text(kScratchpadWords) + " words";
  }

  std::string inside_external(const Range& range) const {
    if (range.end <= external_words) return {};
    return range_text(range) + ", external memory has " + number_text(external_words) + " words";
  }

  // Both in the scratchpad, without a common word.
  static std::string apart(const Range& result, const Range& operand) {
    std::string reason = inside(result);
    if (reason.empty()) reason = inside(operand);
    if (reason.empty() && overlap(result, operand)) {
      reason = range_text(result) + " and " + range_text(operand) + " overlap";
    }
    return reason;
  }

  // The same, or in the very same place.
  static std::string element_wise(const Range& result, const Range& operand) {
    std::string reason = count(static_cast<uint32_t>(result.end - result.begin));
    if (!reason.empty()) return reason;
    return result.begin == operand.begin ? inside(result) : apart(result, operand);
  }
};

// The same of a field that its bits do not hold: no encoded instruction has one.
struct TooLarge {
  template <class T>
  std::string operator()(const T& one) const {
    std::string reason;
    for_each_field<T>([&](const Field<T>& field) {
      if (one.*field.member <= largest(field) || !reason.empty()) return;
      reason = std::string(field.name) + " is 0 to " + number_text(largest(field));
    });
    return reason;
  }
};

}  // namespace

Status check_program(std::span<const Instruction> program, int64_t external_words) {
  for (size_t i = 0; i < program.size(); ++i) {
    std::string reason = std::visit(TooLarge{}, program[i]);
    if (reason.empty()) reason = std::visit(Illegality{external_words}, program[i]);
    if (!reason.empty()) {
      return fail("program-illegal", instruction_text(program[i]) + ": " + reason,
                  "instruction " + number_text(i));
    }
    if (std::holds_alternative<Halt>(program[i])) return {};
  }
  return fail("program-illegal", "no HALT ends the program",
              "instruction " + number_text(program.size()));
}

}  // namespace capra::ga2
