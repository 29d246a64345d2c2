// The page with its data in place.
#include "tools/capra/report_page.h"

#include <string_view>
#include <utility>

#include "tools/capra/model_explorer.h"
#include "tools/capra/report_page_text.h"

namespace capra::driver {
namespace {

// JSON within an element of HTML: no character of it can end the element.
std::string embedded(const Json& json) {
  const std::string text = json.text();
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string report_page(const Json& report, const Graph& graph) {
  constexpr std::string_view kPlace = "@data@";
  const size_t place = kReportPageText.find(kPlace);
  CAPRA_CHECK(place != std::string_view::npos);
  Json data = Json::object();
  data.set("report", report).set("graph", model_explorer_graph(graph));
  return std::string(kReportPageText.substr(0, place)) + embedded(data) +
         std::string(kReportPageText.substr(place + kPlace.size()));
}

}  // namespace capra::driver
