#include "tune/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast::tune {
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

std::string listed(const char* text) {
  NameTable table;
  const Expression e(text, Syntax::python, table);
  Scope scope(table.size());
  return text_of(e.value(scope, table));
}

// Every form of "Values" in the T1 files of the community's benchmark spaces.
TEST(Expression, ListsRangesAndComprehensions) {
  EXPECT_EQ(listed("[1, 2, 4] + list(range(32, 97, 32))"), "[1, 2, 4, 32, 64, 96]");
  EXPECT_EQ(listed("[2**i for i in range(0, 6)]"), "[1, 2, 4, 8, 16, 32]");
  EXPECT_EQ(listed("[i for i in range(1, 10+1) if i % 3 == 0]"), "[3, 6, 9]");
  EXPECT_EQ(listed("[i * 10 + j for i in [1, 2] for j in range(2)]"), "[10, 11, 20, 21]");
  EXPECT_EQ(listed("['float', \"half\"]"), "[float, half]");
  EXPECT_EQ(listed("list(range(5, 0, -2))"), "[5, 3, 1]");
  EXPECT_EQ(listed("[1.5, 2, True]"), "[1.5, 2, 1]");
  EXPECT_EQ(listed("()"), "[]");
  EXPECT_EQ(listed("(1, 2)[-1]"), "2");
}

TEST(Expression, PythonsOtherForms) {
  EXPECT_EQ(evaluate("5 if x == 3 else 7", names), 5);
  EXPECT_EQ(evaluate("x in [1, 3] and x not in (4, 5)", names), 1);
  EXPECT_EQ(evaluate("6 | 1 ^ 3 & 2 << 1", {}), 6 | (1 ^ (3 & (2 << 1))));
  EXPECT_EQ(evaluate("math.log2(8) + sum([1, 2]) + len(range(4)) + all([1, 0]) + any(v > 1 for v in [1, 2])", {}),
            3 + 3 + 4 + 0 + 1);
  EXPECT_EQ(evaluate("~5", {}), -6);
}

double c(const char* text) {
  NameTable table;
  const Expression e(text, Syntax::c, table);
  Scope scope(table.size());
  if (const int x = table.find("x"); x >= 0) scope.set(x, Value::whole(3));
  return e.number(scope, table);
}

TEST(Expression, CDividesWholeNumbersAndHasItsOwnPrecedence) {
  EXPECT_EQ(c("7 / 2"), 3);
  EXPECT_EQ(c("-7 / 2"), -3);
  EXPECT_EQ(c("-7 % 3"), -1);
  EXPECT_EQ(c("7 / 2.0"), 3.5);
  EXPECT_EQ(c("1 | 2 == 2"), 1);  // comparisons bind tighter than bits
  EXPECT_EQ(c("x > 2 && x < 4 || !x"), 1);
  EXPECT_EQ(c("x == 3 ? 10u : 20"), 10);
  EXPECT_EQ(c("1 << 4 >> 1"), 8);
  EXPECT_EQ(c("0x1F & ~1"), 30);
  EXPECT_EQ(c("max(x, 4) * min(2, 1.5f)"), 6);
  EXPECT_EQ(c("1 < 2 < 2"), 1);  // (1 < 2) < 2
}

TEST(Expression, WhatCannotBeComputedIsNoNumber) {
  const auto fails = [](const char* text) {
    try {
      (void)c(text);
      return std::string();
    } catch (const UserError& e) {
      return std::string(e.what());
    }
  };
  EXPECT_THAT(fails("x / (3 - x)"), HasSubstr("division by zero"));
  EXPECT_THAT(fails("9007199254740992 * 4"), HasSubstr("2^53"));
  EXPECT_THAT(fails("9007199254740994"), HasSubstr("at most 2^53"));
  EXPECT_THAT(fails(std::string(60, '3').c_str()), HasSubstr("at most 2^53"));
  EXPECT_THAT(fails("1 << 63"), HasSubstr("shift"));
  EXPECT_THAT(fails("1.5 & 1"), HasSubstr("whole numbers"));
  EXPECT_THAT(fails("x ** 2"), HasSubstr("a number or a name is expected"));
  EXPECT_THAT(fails("x and 1"), HasSubstr("cannot make sense"));
  EXPECT_THAT(fails(std::string(5000, '(').c_str()), HasSubstr("nested too deeply"));
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

std::string refusal(const std::string& text, Syntax syntax = Syntax::python) {
  try {
    NameTable table;
    const Expression e(text, syntax, table);
    Scope scope(table.size());
    if (const int x = table.find("x"); x >= 0) scope.set(x, Value::whole(3));
    (void)e.value(scope, table);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

std::string joined(const std::string& part, const std::string& sign, int times) {
  std::string text = part;
  for (int i = 1; i < times; ++i) text += sign + part;
  return text;
}

// Neither the stack nor memory nor patience is used up, whatever is written; the message stays short.
TEST(Expression, EveryEvaluationHasItsLimits) {
  for (const Syntax syntax : {Syntax::c, Syntax::python}) {
    EXPECT_EQ(refusal(joined("x", "+", 1500), syntax), "");
    EXPECT_THAT(refusal(joined("x", "+", 40000), syntax), HasSubstr("more than 2000 operators"));
    EXPECT_LT(refusal(joined("x", "+", 40000), syntax).size(), 400u);
  }
  EXPECT_THAT(refusal("[[i for i in range(1000)] for j in range(10)]"), "");
  EXPECT_THAT(refusal("all([all([y != x for y in range(1000000)]) for x in range(1000000)])"),
              HasSubstr("write a shorter one"));
  EXPECT_THAT(refusal("[[[z for z in range(1000)] for y in range(1000)] for x in range(300)]"),
              HasSubstr("more than 4194304 parts"));
  // Each list holds the one before four times: little memory, and 2^40 parts for whoever looks at them.
  std::string twice = "[x]";
  for (int i = 0; i < 20; ++i) twice = "[[a, a, a, a] for a in [" + twice + "]]";
  EXPECT_THAT(refusal(twice), HasSubstr("parts"));
  std::string text = "['x']";
  for (int i = 0; i < 20; ++i) text = "[a + a + a + a for a in " + text + "]";
  EXPECT_THAT(refusal(text), HasSubstr("parts"));
}

}  // namespace
}  // namespace kernelcast::tune
