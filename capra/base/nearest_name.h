// The name somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace capra {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The nearest of `names` to `name`, the first among equals; empty when none is near enough to be
/// meant (more than a third of its letters wrong).
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

/// `did you mean 'gelu'?`, or nothing when no name is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> names);

}  // namespace capra
