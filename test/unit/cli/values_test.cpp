// Values of flags: everything that is not understood in full is refused by name.
#include "cli/flag_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

using testing::HasSubstr;

TEST(Sizes, OneTwoOrThree) {
  EXPECT_EQ(sizes("--grid", "64"), (Dim3{64, 1, 1}));
  EXPECT_EQ(sizes("--grid", "64,16"), (Dim3{64, 16, 1}));
  EXPECT_EQ(sizes("--grid", "64,16,2"), (Dim3{64, 16, 2}));
  EXPECT_EQ(sizes("--grid", "4611686018427387904").x, std::int64_t{1} << 62);
}

TEST(Sizes, RefusesEverythingElseAndNamesTheFlag) {
  for (const char* text : {"", ",", "0", "-4", "4,", ",4", "4,0", "12x4", "1,2,3,4", "1 2", " 4", "4 ", "4.0", "1e3",
                           "+4", "99999999999999999999", "4611686018427387905", "4294967296,4294967296", "0x"}) {
    try {
      sizes("--grid", text);
      ADD_FAILURE() << "accepted \"" << text << '"';
    } catch (const UsageError& e) {
      EXPECT_THAT(e.what(), HasSubstr("--grid")) << text;
    }
  }
}

TEST(WholeNumber, Bounds) {
  EXPECT_EQ(whole_number("--shared", "0", 0), 0);
  EXPECT_EQ(whole_number("--shared", "9223372036854775807", 0), std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(whole_number("--shared", "9223372036854775808", 0), UsageError);
  EXPECT_THROW(whole_number("--shared", "-1", 0), UsageError);
}

TEST(ArgumentValue, IntegersRealsAndBooleans) {
  EXPECT_EQ(argument_value("--arg", "n=1024"), ArgValue(std::int64_t{1024}));
  EXPECT_EQ(argument_value("--arg", "n=-3"), ArgValue(std::int64_t{-3}));
  EXPECT_EQ(argument_value("--arg", "n=0x10"), ArgValue(std::int64_t{16}));
  EXPECT_EQ(argument_value("--arg", "n=-9223372036854775808"), ArgValue(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(argument_value("--arg", "n=0.5"), ArgValue(0.5));
  EXPECT_EQ(argument_value("--arg", "n=1e3"), ArgValue(1000.0));
  EXPECT_EQ(argument_value("--arg", "n=true"), ArgValue(std::int64_t{1}));
  for (const char* text : {"n", "=4", "n=", "n=many", "n=4x", "n=nan", "n=inf", "n=1e999", "n=9223372036854775808"}) {
    EXPECT_THROW(argument_value("--arg", text), UsageError) << text;
  }
}

TEST(BufferSpec, CountAndFill) {
  EXPECT_EQ(buffer_spec("--buffer", "a=16").elements, 16);
  EXPECT_EQ(buffer_spec("--buffer", "a=16:random").fill, "random");
  for (const char* text : {"a", "a=", "a=0", "a=-1", "a=x", "a=16:", "a=:random"}) {
    EXPECT_THROW(buffer_spec("--buffer", text), UsageError) << text;
  }
}

TEST(ByteCount, UnitsOf1024) {
  EXPECT_EQ(byte_count("--max-memory", "1000"), 1000);
  EXPECT_EQ(byte_count("--max-memory", "3K"), 3 << 10);
  EXPECT_EQ(byte_count("--max-memory", "512M"), 512 << 20);
  EXPECT_EQ(byte_count("--max-memory", "2T"), std::int64_t{2} << 40);
  for (const char* text : {"", "K", "0", "-1M", "1.5G", "4X", "4MB", "9999999999T"}) {
    EXPECT_THROW(byte_count("--max-memory", text), UsageError) << text;
  }
}

TEST(CommaList, RefusesEmptyParts) {
  EXPECT_EQ(comma_list("--device", "a,b"), (std::vector<std::string>{"a", "b"}));
  for (const char* text : {"", ",", "a,", ",a", "a,,b"}) {
    EXPECT_THROW(comma_list("--device", text), UsageError) << text;
  }
}

}  // namespace
}  // namespace kernelcast::cli
