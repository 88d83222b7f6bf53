#include "io/printable.h"

#include <gtest/gtest.h>

namespace kernelcast {
namespace {

TEST(Printable, TextStaysAsItIs) {
  const std::string text = "a\tb\n\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80 \\x1b";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable_json(text), text);
}

TEST(Printable, ControlsAndInvalidBytesAreEscapes) {
  EXPECT_EQ(printable("\x1b[31mEVIL\x07\r"), "\\x1b[31mEVIL\\x07\\x0d");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\x7f\xc2\x9b"), "\\x7f\\xc2\\x9b");
  EXPECT_EQ(printable("\xff\xc0\xaf\xe2\x82"), "\\xff\\xc0\\xaf\\xe2\\x82");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above all planes
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\xe2\\x80\\xae"
            "b");  // right to left from here
}

TEST(Printable, ColourOfOursStaysWhereItIsOn) {
  EXPECT_EQ(printable("\x1b[1mx\x1b[0m", true), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(printable("\x1b[1mx\x1b[0m"), "\\x1b[1mx\\x1b[0m");
  EXPECT_EQ(printable("\x1b[2J\x1b]0;t\x07", true), "\\x1b[2J\\x1b]0;t\\x07");
}

TEST(Printable, JsonStaysJson) { EXPECT_EQ(printable_json("\"\x7f\xc2\x9b\""), "\"\\u007f\\u009b\""); }

}  // namespace
}  // namespace kernelcast
