// Edit distance with swaps of neighbours, and the choice of the nearest name.
#include "capra/base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace capra {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> before(width);
  std::vector<int> above(width);
  std::vector<int> row(width);
  std::iota(above.begin(), above.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  // Longer than any name of ours: comparing would only cost time.
  constexpr size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) return {};
  std::string_view nearest;
  int least = static_cast<int>(std::max<size_t>(1, name.size() / 3)) + 1;
  for (const std::string_view candidate : names) {
    if (candidate.size() > kLongest) continue;
    const int distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(name, names);
  return nearest.empty() ? std::string() : "did you mean '" + std::string(nearest) + "'?";
}

}  // namespace capra
