// Building one picture: shapes and text by class, which the colours hang on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capra::ga2 {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

enum class Anchor : uint8_t { Start, Middle, End };

class Svg {
 public:
  /// Style: fill and stroke by class. `tip` is shown where the pointer rests.
  void rectangle(const Box& box, std::string_view style, std::string_view tip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void text(double x, double y, std::string_view words, std::string_view style = "ink",
            Anchor anchor = Anchor::Start);
  /// Upwards, around its middle.
  void upright_text(double x, double y, std::string_view words);

  /// The document, with a title for those who cannot see it.
  std::string document(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

/// About how wide the words are in the picture's font.
double text_width(std::string_view words);

}  // namespace capra::ga2
