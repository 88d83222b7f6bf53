// Spaces from flags and from T1 files, and their enumeration against a slow twin.
#include "tune/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "kernelcast/error.h"
#include "tune/enumerate.h"
#include "tune/ranges.h"
#include "tune/space_flags.h"
#include "tune/t1.h"

namespace kernelcast::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::atomic<bool> go = false;

template <class F>
std::string failure(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

std::string values(const char* text) { return text_of(Value::of_list(values_in("param", text))); }

TEST(Ranges, StepsFactorsAndLists) {
  EXPECT_EQ(values("32..1024:*2"), "[32, 64, 128, 256, 512, 1024]");
  EXPECT_EQ(values("1..4"), "[1, 2, 3, 4]");
  EXPECT_EQ(values("0..70:+32"), "[0, 32, 64]");
  EXPECT_EQ(values("16,32,16,float,1.5"), "[16, 32, float, 1.5]");
  EXPECT_EQ(values("-2..0"), "[-2, -1, 0]");
  const std::vector<AxisText> axes = axes_in("block", "{32,64},1..2,N * 2");
  ASSERT_EQ(axes.size(), 3U);
  EXPECT_EQ(axes[0].values.size(), 2U);
  EXPECT_EQ(axes[2].expression, "N * 2");
}

TEST(Ranges, NonsenseNamesTheFlag) {
  for (const char* text :
       {"5..1", "1..", "..4", "1..8:*1", "0..8:*2", "1..8:2", "1..8:+0", "1,,2", "", "a..b", "1..99999999"}) {
    EXPECT_THAT(failure([&] { values_in("param X", text); }), HasSubstr("param X")) << text;
  }
  EXPECT_THAT(failure([] { axes_in("block", "1,2,3,4"); }), HasSubstr("block"));
  EXPECT_THAT(failure([] { axes_in("block", "{1,2"); }), HasSubstr("block"));
}

SpaceFlags matmul() {
  SpaceFlags f;
  f.block = "T,T";
  f.problem = "1000,n";
  f.tile = "1,R";
  f.parameters = {"T=8,16,32", "R=1..4"};
  f.arguments = {{"n", std::int64_t{500}}};
  return f;
}

TEST(Space, GridIsProblemOverBlockTimesTile) {
  const Space space = space_of(matmul(), false);
  EXPECT_EQ(combinations(space), 12U);
  SpaceReader reader(space);
  reader.choose(1 * 4 + 2);  // T = 16, R = 3
  const LaunchShape s = reader.shape();
  EXPECT_EQ(s.block, (Dim3{16, 16, 1}));
  EXPECT_EQ(s.grid, (Dim3{63, 11, 1}));  // ceil(1000 / 16), ceil(500 / 48)
  EXPECT_THAT(reader.defines(s), ElementsAre("T=16", "R=3"));
  EXPECT_EQ(reader.text(), "T=16, R=3");
}

TEST(Space, RangesOfTheLaunchAreParametersThatAreNotDefined) {
  SpaceFlags f;
  f.block = "32..128:*2,{1,2}";
  f.global = "1000,7";
  f.shared = "block_x * 4";
  f.constraints = {"threads <= 128", "grid_x < 32"};
  const Space space = space_of(f, false);
  const Enumeration all = enumerate(space, 100, 100, go);
  // 32 gives 32 blocks; 128 x 2 has 256 threads.
  ASSERT_EQ(all.kept.size(), 3U);
  EXPECT_THAT(all.excluded, ElementsAre(1, 2));
  SpaceReader reader(space);
  reader.choose(all.kept.front());
  const LaunchShape s = reader.shape();
  EXPECT_EQ(s.block, (Dim3{64, 1, 1}));
  EXPECT_EQ(s.grid, (Dim3{16, 7, 1}));
  EXPECT_EQ(s.dynamic_shared_bytes, 256);
  EXPECT_TRUE(reader.defines(s).empty());
}

TEST(Space, MistakesOfTheCommandLineNameTheFlag) {
  const auto fails = [](auto change) {
    SpaceFlags f = matmul();
    change(f);
    return failure([&] { space_of(f, false); });
  };
  EXPECT_THAT(fails([](SpaceFlags& f) { f.block.clear(); }), HasSubstr("block"));
  EXPECT_THAT(fails([](SpaceFlags& f) { f.grid = "4"; }), HasSubstr("grid, global and problem"));
  EXPECT_THAT(fails([](SpaceFlags& f) {
                f.problem.clear();
                f.tile.clear();
              }),
              HasSubstr("problem"));
  EXPECT_THAT(fails([](SpaceFlags& f) {
                f.problem.clear();
                f.grid = "4";
              }),
              HasSubstr("tile needs problem"));
  EXPECT_THAT(fails([](SpaceFlags& f) { f.parameters.push_back("T=1"); }), HasSubstr("T varies already"));
  EXPECT_THAT(fails([](SpaceFlags& f) { f.parameters.push_back("9=1"); }), HasSubstr("no name of a macro"));
  EXPECT_THAT(fails([](SpaceFlags& f) { f.parameters.push_back("X"); }), HasSubstr("param X"));
  EXPECT_THAT(fails([](SpaceFlags& f) { f.constraints = {"TT > 1"}; }), HasSubstr("did you mean T?"));
  EXPECT_THAT(fails([](SpaceFlags& f) { f.constraints = {"T >"}; }), HasSubstr("constraint"));
  EXPECT_THAT(fails([](SpaceFlags& f) { f.block = "block_x"; }), HasSubstr("nothing is called block_x"));
}

TEST(Space, SizesThatAreNoneNameTheConfiguration) {
  SpaceFlags f = matmul();
  f.block = "T / 16";
  const Space space = space_of(f, false);
  SpaceReader reader(space);
  reader.choose(0);
  EXPECT_THAT(failure([&] { (void)reader.shape(); }), HasSubstr("\"T / 16\" is 0 for T=8, R=1"));
}

constexpr const char* t1 = R"t1({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "block_size_x", "Type": "int", "Values": "[16, 32] + list(range(64, 129, 64))"},
    {"Name": "tile", "Type": "int", "Values": [1, 2]}, {"Name": "kind", "Type": "string", "Values": "['a', 'b']"},
    {"Name": "loop_unroll_factor_k", "Values": "[0]"}],
  "Conditions": [{"Expression": "16 < block_size_x <= 64 or tile == 1", "Parameters": ["block_size_x", "tile"]}]},
  "KernelSpecification": {"Language": "CUDA", "KernelName": "run", "KernelFile": "k.cu",
    "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"}, "GridDivX": ["block_size_x", "tile"], "ProblemSize": [1000, 64],
    "SharedMemory": "block_size_x * 8"}})t1";

TEST(T1, ParametersConditionsAndLaunch) {
  const Space space = space_of(read_t1("t1.json", t1));
  EXPECT_EQ(combinations(space), 4U * 2 * 2);
  const Enumeration all = enumerate(space, 100, 100, go);
  EXPECT_EQ(all.kept.size(), 4U * 2 + 2 * 2);
  SpaceReader reader(space);
  reader.choose(all.kept.back());
  const LaunchShape s = reader.shape();
  EXPECT_EQ(s.block, (Dim3{128, 1, 1}));
  EXPECT_EQ(s.grid, (Dim3{8, 64, 1}));
  EXPECT_EQ(s.dynamic_shared_bytes, 1024);
  EXPECT_THAT(reader.defines(s),
              ElementsAre("block_size_x=128", "tile=1", "kind=b", "loop_unroll_factor_k=0", "grid_size_x=8",
                          "grid_size_y=64", "grid_size_z=1", "block_size_y=1", "block_size_z=1", "kernel_tuner=1"));
}

TEST(T1, GridsBeyondAllNumbersAreRefused) {
  std::string text = t1;
  const std::string divisors = R"("GridDivX": ["block_size_x", "tile"])";
  text.replace(text.find(divisors), divisors.size(), R"("GridDivX": ["1e-300", "1e-20"])");
  const Space space = space_of(read_t1("t1.json", text));
  SpaceReader reader(space);
  reader.choose(0);
  EXPECT_THAT(failure([&] { (void)reader.shape(); }), HasSubstr("the grid divisors of axis x give"));
}

TEST(T1, ErrorsNameTheFile) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = t1;
    text.replace(text.find(from), from.size(), to);
    return failure([&] { space_of(read_t1("t1.json", text)); });
  };
  EXPECT_THAT(with("list(range(64, 129, 64))", "list(range(64"), HasSubstr("\")\" is missing"));
  EXPECT_THAT(with("'a', 'b'", ""), HasSubstr("t1.json: parameter \"kind\" has no \"Values\""));
  EXPECT_THAT(with("16 < block_size_x", "16 < "), HasSubstr("t1.json: expression"));
  EXPECT_THAT(with("\"Name\": \"tile\"", "\"Nam\": \"tile\""), HasSubstr("no \"Name\""));
  EXPECT_THAT(with("CUDA", "Fortran"), HasSubstr("Fortran"));
}

// A run takes one of them: that of --problem, which stands in for the file's.
TEST(T1, JsonThatIsTooDeepOrTooMuchIsRefusedWithItsLine) {
  const auto wrong = [](const std::string& text) { return failure([&] { (void)read_t1("t1.json", text); }); };
  EXPECT_THAT(wrong("{\n\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}"),
              HasSubstr("t1.json:2: lists and objects nest deeper than 64"));
  EXPECT_THAT(wrong("{\"[[\\\"[[\": " + std::string(60, '[') + std::string(60, ']') + "}"),
              HasSubstr("no \"KernelSpecification\""));
  std::string many = "[0";
  for (int i = 0; i < 10000001; ++i) many += ",0";
  EXPECT_THAT(wrong(many + "]"), HasSubstr("t1.json:1: more than 10000000 values"));
}

TEST(T1, SeveralProblemSizesNeedAChoice) {
  const auto with = [](const std::string& sizes) {
    std::string text = t1;
    const std::string from = "[1000, 64]";
    text.replace(text.find(from), from.size(), sizes);
    return read_t1("t1.json", text);
  };
  EXPECT_EQ(with("[[512, 8]]").problem, (std::vector<std::string>{"512", "8"}));
  EXPECT_THAT(failure([&] { space_of(with("[[512, 8], [1024, 16]]")); }),
              HasSubstr("t1.json: \"ProblemSize\" lists 2 sizes (512,8; 1024,16): give one with problem"));
  EXPECT_THAT(failure([&] { space_of(with("[1, 2, 3, 4]")); }), HasSubstr("has 4 entries where a size has three"));
  EXPECT_THAT(failure([&] { space_of(with("[]")); }), HasSubstr("problem"));
  T1File file = with("[[512, 8], [1024, 16]]");
  file.problem = {"1024", "16"};
  EXPECT_EQ(combinations(space_of(file)), 4U * 2 * 2);
}

TEST(T1, UnrollsOfZeroGo) {
  const std::string source = "#pragma unroll loop_unroll_factor_k\nfor (;;) {}\n#pragma unroll loop_unroll_factor_kk\n";
  EXPECT_EQ(without_unused_unrolls(source, {"loop_unroll_factor_k=1"}), source);
  const std::string without = without_unused_unrolls(source, {"loop_unroll_factor_k=0"});
  EXPECT_EQ(without.find("factor_k\n"), std::string::npos);
  EXPECT_NE(without.find("factor_kk"), std::string::npos);
  EXPECT_EQ(std::count(without.begin(), without.end(), '\n'), 3);
}

// The slow twin: every combination, every constraint.
RC_GTEST_PROP(Enumerate, IsAllCombinationsThatSatisfyEveryConstraint, ()) {
  SpaceFlags f;
  f.block = "A,B";
  f.grid = "1";
  std::vector<std::vector<int>> lists;
  for (const char* name : {"A", "B", "C"}) {
    const auto list = *rc::gen::unique<std::vector<int>>(*rc::gen::inRange<std::size_t>(1, 5), rc::gen::inRange(1, 20));
    std::string text;
    for (const int v : list) text += (text.empty() ? "" : ",") + std::to_string(v);
    f.parameters.push_back(std::string(name) + "=" + text);
    lists.push_back(list);
  }
  const std::vector<std::string> pool{"A * B <= 60",  "C > 3 || A < B", "B % 2 == 0",
                                      "threads > 10", "C != A",         "block_x + grid_x > 4"};
  const auto chosen = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pool));
  f.constraints = chosen;
  const Space space = space_of(f, false);
  const Enumeration all = enumerate(space, 1000, 1000, go);
  std::vector<Configuration> expected;
  Configuration c = 0;
  for (const int a : lists[0]) {
    for (const int b : lists[1]) {
      for (const int v : lists[2]) {
        bool holds = true;
        for (const std::string& text : chosen) {
          const std::size_t which = static_cast<std::size_t>(std::find(pool.begin(), pool.end(), text) - pool.begin());
          const bool results[] = {a * b <= 60, v > 3 || a < b, b % 2 == 0, a * b > 10, v != a, a + 1 > 4};
          holds = holds && results[which];
        }
        if (holds) expected.push_back(c);
        ++c;
      }
    }
  }
  RC_ASSERT(all.kept == expected);
  std::uint64_t excluded = 0;
  for (const std::uint64_t n : all.excluded) excluded += n;
  RC_ASSERT(excluded + expected.size() == c);
  RC_ASSERT(all.examples.size() == excluded);
}

}  // namespace
}  // namespace kernelcast::tune
