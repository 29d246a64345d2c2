// Any bytes as a program's text: refused with a code and a place, or a module whose text reads back
// as the same; and a graph, or a named refusal.
#include <cstdio>
#include <cstdlib>

#include "capra/ir/verify.h"
#include "capra/targets/stablehlo/read/import.h"
#include "capra/targets/stablehlo/read/read.h"

namespace {

void require(bool condition, const char* what, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

void require_named(const capra::Diagnostic& diagnostic) {
  require(capra::find_diagnostic_code(diagnostic.code) != nullptr, "a refusal without a code",
          to_text(diagnostic));
  require(!diagnostic.at.empty(), "a refusal without a place", to_text(diagnostic));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace capra;
  using namespace capra::stablehlo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Module> module = read_module(text);
  if (!module.ok()) {
    require_named(module.error());
    require(module.error().at.starts_with("text:"), "a place outside the text",
            to_text(module.error()));
    return 0;
  }
  const std::string once = print_module(*module);
  const Result<Module> back = read_module(once);
  require(back.ok(), "printed text that does not read",
          back.ok() ? "" : to_text(back.error()) + "\n" + once);
  require(print_module(*back) == once, "text that changes when printed again", once);
  for (const bool whole : {false, true}) {
    const Result<Graph> graph = import_module(*module, {.whole_composites = whole});
    if (!graph.ok()) {
      require(find_diagnostic_code(graph.error().code) != nullptr, "a refusal without a code",
              to_text(graph.error()));
      continue;
    }
    const Status verified = verify(*graph);
    require(verified.ok(), "a graph that is not valid",
            verified.ok() ? "" : to_text(verified.error()) + "\n" + once);
  }
  return 0;
}
