// No script and no font of its own; colours follow the reader's light or dark setting.
#include "capra/targets/ga2/explain/svg.h"

#include <fmt/format.h>

#include "capra/io/xml_text.h"

namespace capra::ga2 {
namespace {

constexpr double kCharacter = 6.4;  // of a sans-serif font of 11 pixels, on average

constexpr std::string_view kStyle = R"(
  text { font: 11px system-ui, sans-serif; }
  .title { font-size: 15px; font-weight: 600; }
  .paper { fill: #ffffff; } .ink, .title { fill: #1f2328; } .faint { fill: #59636e; }
  .grid { stroke: #d1d9e0; } .mark { stroke: #cf222e; stroke-dasharray: 5 3; }
  .tile { fill: #ddf4ff; stroke: #0969da; stroke-width: 1.5; }
  .loaded { fill: #c8e1ff; stroke: #0969da; } .sums { fill: #ffe2b8; stroke: #bc6a00; }
  .fractions { fill: #f5d3f0; stroke: #a0338f; } .rescaled { fill: #e6e3ff; stroke: #6a4fd0; }
  .result { fill: #c9efd2; stroke: #1a7f37; } .held { fill: #eaeef2; stroke: #d1d9e0; }
  .used { fill: #54aeff; } .over { fill: #fa4549; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; } .ink, .title { fill: #e6edf3; } .faint { fill: #9198a1; }
    .grid { stroke: #30363d; } .mark { stroke: #ff7b72; }
    .tile { fill: #12304f; stroke: #58a6ff; }
    .loaded { fill: #12304f; stroke: #58a6ff; } .sums { fill: #4a2f05; stroke: #e3a03c; }
    .fractions { fill: #45183d; stroke: #db78cb; } .rescaled { fill: #2b2360; stroke: #a48cf5; }
    .result { fill: #0f3d1e; stroke: #3fb950; } .held { fill: #21262d; stroke: #3d444d; }
    .used { fill: #388bfd; } .over { fill: #f85149; }
  }
)";

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::Middle ? "middle" : "end";
}

}  // namespace

double text_width(std::string_view words) { return kCharacter * static_cast<double>(words.size()); }

void Svg::rectangle(const Box& box, std::string_view style, std::string_view tip) {
  body_ +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"",
                  box.x, box.y, box.width, box.height, style);
  body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", xml_text(tip));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                  x1, y1, x2, y2, style);
}

void Svg::text(double x, double y, std::string_view words, std::string_view style, Anchor anchor) {
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x,
                  y, style, anchor_name(anchor), xml_text(words));
}

void Svg::upright_text(double x, double y, std::string_view words) {
  body_ += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" class=\"ink\" "
      "text-anchor=\"middle\">{}</text>\n",
      x, y, xml_text(words));
}

std::string Svg::document(double width, double height, std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n"
      "<text x=\"16\" y=\"26\" class=\"title\">{2}</text>\n{4}</svg>\n",
      width, height, xml_text(title), kStyle, body_);
}

}  // namespace capra::ga2
