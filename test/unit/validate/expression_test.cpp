#include "validate/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast::validate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Names names{{"x", {3}}, {"block_size_x", {32}}, {"ProblemSize", {4096, 2048}}};

TEST(Expression, PythonsPrecedenceAndRounding) {
  EXPECT_EQ(evaluate("2 + 3 * 4", {}), 14);
  EXPECT_EQ(evaluate("(2 + 3) * 4", {}), 20);
  EXPECT_EQ(evaluate("-7 // 2", {}), -4);
  EXPECT_EQ(evaluate("-7 % 3", {}), 2);
  EXPECT_EQ(evaluate("7 % -3", {}), -2);
  EXPECT_EQ(evaluate("7 / 2", {}), 3.5);
  EXPECT_EQ(evaluate("-2 ** 2", {}), -4);
  EXPECT_EQ(evaluate("2 ** 3 ** 2", {}), 512);
  EXPECT_EQ(evaluate("2 ** -1", {}), 0.5);
  EXPECT_EQ(evaluate("1e3 - 2.5", {}), 997.5);
}

TEST(Expression, ComparisonsAndLogic) {
  EXPECT_EQ(evaluate("1 < 2 <= 2", {}), 1);
  EXPECT_EQ(evaluate("1 < 2 < 2", {}), 0);
  EXPECT_EQ(evaluate("not 1 == 2 and 3 != 4", {}), 1);
  EXPECT_EQ(evaluate("0 or 5", {}), 5);
  EXPECT_EQ(evaluate("2 and 5", {}), 5);
  EXPECT_EQ(evaluate("True", {}), 1);
}

TEST(Expression, NamesIndicesAndFunctions) {
  EXPECT_EQ(evaluate("ceil(ProblemSize[0] / (block_size_x * x))", names), 43);
  EXPECT_EQ(evaluate("(262144 // block_size_x) // x", names), 2730);
  EXPECT_EQ(evaluate("max(x)", names), 3);
  EXPECT_EQ(evaluate("min(x, 2, 9) + int(2.9) + floor(-0.5) + round(2.5) + float(1)", names), 2 + 2 - 1 + 2 + 1);
  EXPECT_THAT(names_in("ceil(a_1 / (b*2)) and True"), ElementsAre("a_1", "b"));
}

TEST(Expression, WhatIsWrongIsSaidWithTheExpression) {
  const auto failure = [](const char* text) -> std::string {
    try {
      (void)evaluate(text, names);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(failure("block_size_y * 2"), HasSubstr("\"block_size_y * 2\": nothing is called block_size_y"));
  EXPECT_THAT(failure("ProblemSize"), HasSubstr("is a list"));
  EXPECT_THAT(failure("ProblemSize[2]"), HasSubstr("is shorter"));
  EXPECT_THAT(failure("1 / 0"), HasSubstr("division by zero"));
  EXPECT_THAT(failure("1 +"), HasSubstr("ends too early"));
  EXPECT_THAT(failure("(1"), HasSubstr("\")\" is missing"));
  EXPECT_THAT(failure("1 2"), HasSubstr("cannot make sense of \"2\""));
  EXPECT_THAT(failure("exec(1)"), HasSubstr("there is no function exec"));
  EXPECT_THAT(failure("10.0 ** 400"), HasSubstr("not finite"));
  EXPECT_THAT(failure(std::string(1000, '(').c_str()), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace kernelcast::validate
