// Text that documents can hold.
#include "capra/io/xml_text.h"

#include <gtest/gtest.h>

namespace capra {
namespace {

TEST(XmlText, HasNoCharacterThatXmlLacks) {
  EXPECT_EQ(xml_text("a<b & c>d"), "a&lt;b &amp; c&gt;d");
  EXPECT_EQ(xml_text("a\x01\x7F\tb"), "a   b");
  // The `Char` of XML 1.0 ends at U+FFFD, goes on at U+10000, and ends at U+10FFFF.
  EXPECT_EQ(xml_text("a\xEF\xBF\xBE\xEF\xBF\xBF\xEF\xBF\xBE"), "a   ");
  EXPECT_EQ(xml_text("\xEF\xBF\xBD\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"),
            "\xEF\xBF\xBD\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
  EXPECT_EQ(xml_text("\xEF\xBF"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace capra
