// Any bytes as graph text: refused with a place, or a valid graph whose text prints, parses and
// prints the same.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"

namespace {

void require(bool condition, const char* what, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const capra::Result<capra::Graph> graph = capra::parse_graph(text, capra::all_ops());
  if (!graph.ok()) {
    require(graph.error().at.starts_with("text:"), "a refusal without a place",
            to_text(graph.error()));
    return 0;
  }
  const capra::Status verified = capra::verify(*graph);
  require(verified.ok(), "a parsed graph that is not valid",
          verified.ok() ? "" : to_text(verified.error()));
  const std::string once = capra::print_graph(*graph);
  const capra::Result<capra::Graph> back = capra::parse_graph(once, capra::all_ops());
  require(back.ok(), "printed text that does not parse",
          back.ok() ? "" : to_text(back.error()) + "\n" + once);
  require(capra::print_graph(*back) == once, "text that changes when printed again", once);
  require(*back == *graph, "a graph that changes when printed and parsed", once);
  return 0;
}
