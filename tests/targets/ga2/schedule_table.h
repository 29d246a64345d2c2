// The schedules side by side.
#pragma once

#include <string>

namespace capra::ga2 {

/// A table in Markdown of all graphs whose cycles are published, and of two more of the
/// publication.
std::string schedule_table();

}  // namespace capra::ga2
