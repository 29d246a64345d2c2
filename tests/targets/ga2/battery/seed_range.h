// Which seeds a program of the battery is asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "capra/base/number_text.h"
#include "tests/targets/ga2/battery/random_network.h"

namespace capra::ga2 {

inline constexpr CaseKind kBatteryKinds[] = {CaseKind::Graph, CaseKind::Slice, CaseKind::Int4};
inline constexpr CaseKind kScheduleKinds[] = {CaseKind::Graph, CaseKind::Slice, CaseKind::Int4,
                                              CaseKind::Wild};

struct SeedRange {
  CaseKind kind = CaseKind::Graph;
  int64_t first = 0;
  int64_t count = 0;
};

/// KIND FIRST COUNT, with one of these kinds; none for anything else.
inline std::optional<SeedRange> seed_range(std::span<const char* const> arguments,
                                           std::span<const CaseKind> kinds) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  if (arguments.size() != 3) return std::nullopt;
  const auto kind = std::ranges::find(kinds, std::string_view(arguments[0]), case_kind_name);
  const std::optional<uint64_t> first = parse_u64(arguments[1]);
  const std::optional<uint64_t> count = parse_u64(arguments[2]);
  if (kind == kinds.end() || !first || !count) return std::nullopt;
  if (*first >= kMost || *count >= kMost) return std::nullopt;
  return SeedRange{*kind, static_cast<int64_t>(*first), static_cast<int64_t>(*count)};
}

}  // namespace capra::ga2
