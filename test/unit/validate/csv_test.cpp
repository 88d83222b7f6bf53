#include "validate/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast::validate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string failure(const std::string& text) {
  try {
    parse_csv("t.csv", text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Csv, QuotesLineEndsAndLineNumbers) {
  const CsvTable t = parse_csv("t.csv", "a,b,c\r\n1,\"x,\"\"y\"\"\",\r\n\r\n2,\"two\nlines\",z\n3,,");
  EXPECT_THAT(t.columns, ElementsAre("a", "b", "c"));
  ASSERT_EQ(t.records.size(), 3U);
  EXPECT_THAT(t.records[0].cells, ElementsAre("1", "x,\"y\"", ""));
  EXPECT_THAT(t.records[1].cells, ElementsAre("2", "two\nlines", "z"));
  EXPECT_THAT(t.records[2].cells, ElementsAre("3", "", ""));
  EXPECT_EQ(t.records[0].line, 2);
  EXPECT_EQ(t.records[1].line, 4);
  EXPECT_EQ(t.records[2].line, 6);
}

TEST(Csv, ByteOrderMarkAndOnlyAHeading) {
  const CsvTable t = parse_csv("t.csv",
                               "\xef\xbb\xbf"
                               "a,b\n");
  EXPECT_THAT(t.columns, ElementsAre("a", "b"));
  EXPECT_TRUE(t.records.empty());
}

TEST(Csv, ErrorsNameFileAndLine) {
  EXPECT_THAT(failure(""), HasSubstr("t.csv: is empty"));
  EXPECT_THAT(failure("a,b\n1,2\n3\n"), HasSubstr("t.csv:3: 1 cells where the heading has 2"));
  EXPECT_THAT(failure("a,b\n1,\"2\n3,4\n"), HasSubstr("t.csv:2: a quote is opened"));
  EXPECT_THAT(failure("a,b\n1,\"2\"3\n"), HasSubstr("t.csv:2: text behind a closing quote"));
  EXPECT_THAT(failure("a,,b\n"), HasSubstr("t.csv:1: column 2 has no name"));
  EXPECT_THAT(failure("a,b,a\n"), HasSubstr("t.csv:1: there are two columns \"a\""));
}

TEST(Csv, TablesBeyondAllUseAreRefusedWithTheLine) {
  std::string wide = "c0";
  for (int i = 1; i < 200000; ++i) wide += ",c" + std::to_string(i);
  EXPECT_THAT(failure(wide + "\n"), HasSubstr("t.csv:1: more than 1000 columns"));
  std::string tall = "a\n";
  for (int i = 0; i < 1000001; ++i) tall += "1\n";
  EXPECT_THAT(failure(tall), HasSubstr("t.csv:1000002: more than 1000000 records"));
}

TEST(Csv, CellsByName) {
  const CsvTable t = parse_csv("t.csv", "n,x,pairs,empty\n12,0.5,a=1;b=x=y ; c=,\n-1,1e400,=3,\n");
  const CsvCells good(t, t.records[0]), bad(t, t.records[1]);
  EXPECT_EQ(good.whole("n", 1, 7), 12);
  EXPECT_EQ(good.whole("empty", 1, 7), 7);
  EXPECT_EQ(good.text("no such"), "");
  EXPECT_DOUBLE_EQ(good.number("x"), 0.5);
  EXPECT_THAT(good.pairs("pairs"), ElementsAre(std::pair("a", "1"), std::pair("b", "x=y"), std::pair("c", "")));
  EXPECT_THROW(good.required("empty"), UserError);
  EXPECT_THROW(good.required("no such"), UserError);
  EXPECT_THROW((void)bad.whole("n", 1, 7), UserError);
  EXPECT_THROW((void)bad.number("x"), UserError);
  EXPECT_THROW((void)bad.pairs("pairs"), UserError);
}

TEST(Csv, SplitAndNumbers) {
  EXPECT_THAT(split(" a ; b;;c;", ';'), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(split("", ';').empty());
  EXPECT_EQ(whole_in("42"), 42);
  EXPECT_EQ(whole_in("4.2"), std::nullopt);
  EXPECT_EQ(number_in("nan"), std::nullopt);
  EXPECT_EQ(number_in(""), std::nullopt);
}

}  // namespace
}  // namespace kernelcast::validate
