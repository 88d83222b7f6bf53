// Loops of kernel templates: every instance is judged, and their common text is transformed only where all allow it.
#include <gtest/gtest.h>

#include "engines/frontend/executed_output.h"
#include "kernelcast/error.h"
#include "kernelcast/loops.h"

namespace kernelcast {
namespace {

Source template_source(const std::string& text) {
  Source s;
  s.path = "template.cu";
  s.text = text;
  return s;
}

// T is the type of sum and counter, N the trips of the loop in a path.
std::string walk(const std::string& launches, const std::string& body) {
  return "template <typename T, int N>\n"
         "__global__ void walk(const int* __restrict__ in, T* __restrict__ out, int n) {\n"
         "  const int id = blockIdx.x * blockDim.x + threadIdx.x;\n  T s = 0, t = 0;\n"
         "  for (T i = 0; i < n; ++i) {\n" +
         body + "  }\n  out[id] = s + t;\n}\nint main() {\n" + launches + "}\n";
}

const std::string both =
    "  walk<int, 3><<<1, 64>>>((int*)0, (int*)0, 1);\n  walk<float, 5><<<1, 64>>>((int*)0, (float*)0, 1);\n";
const std::string sums =
    "    if (in[((int)i * 5 + id) & 1023] > 0) {\n      for (int k = 0; k < N; ++k) s += i * k;\n"
    "    } else {\n      t += 2 * i;\n    }\n";

FrontendOptions named(const std::string& kernel) {
  FrontendOptions o;
  o.kernel = kernel;
  return o;
}

TEST(TemplateLoops, TheInstanceThatIsNamedComesFirst) {
  const Source source = template_source(walk(both, sums));
  for (const auto& [name, first] : {std::pair{"walk<float,5>", "walk<float, 5>"},
                                    {"walk<int,3>", "walk<int, 3>"},
                                    {"_Z4walkIfLi5EEvPKiPT_i", "walk<float, 5>"}}) {
    const auto loops = divergent_loops(source, named(name));
    ASSERT_EQ(loops.size(), 1U) << name;
    EXPECT_EQ(loops[0].runs_as(), first);
    EXPECT_EQ(loops[0].kernel, "walk");
    EXPECT_EQ(loops[0].instances.size(), 2U);
  }
  for (const char* name : {"", "walk"}) {
    const auto loops = divergent_loops(source, named(name));
    ASSERT_EQ(loops.size(), 1U) << name;
    EXPECT_EQ(loops[0].instances.size(), 2U);
  }
}

TEST(TemplateLoops, AnInstanceThatNothingLaunches) {
  const auto loops = divergent_loops(template_source(walk("", sums)), named("walk<double,7>"));
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].instances, std::vector<std::string>{"walk<double, 7>"});
}

// Integer sums commute, those of floating point do not: the text may not be transformed for one of them alone.
TEST(TemplateLoops, TheVerdictIsTheWorstOfAllInstances) {
  const std::string added = "    if (in[((int)i + id) & 1023] > 0) s += i; else s += 2 * i;\n";
  const std::string integers = "  walk<int, 3><<<1, 64>>>((int*)0, (int*)0, 1);\n";
  const auto alone = divergent_loops(template_source(walk(integers, added)), named("walk<int,3>"));
  const auto together = divergent_loops(template_source(walk(both, added)), named("walk<int,3>"));
  ASSERT_EQ(alone.size(), 1U);
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(name_of(alone[0].advance.legal), name_of(Legality::yes)) << alone[0].advance.reason;
  EXPECT_EQ(name_of(together[0].advance.legal), name_of(Legality::no));
  EXPECT_EQ(name_of(together[0].advance.condition), name_of(Condition::float_reduction));
  EXPECT_EQ(together[0].advance.reason.find("in walk<float, 5>: "), 0U) << together[0].advance.reason;
  EXPECT_EQ(name_of(together[0].postpone.legal), name_of(Legality::yes));
  EXPECT_THROW(rewritten(template_source(walk(both, added)), {}, together[0], Policy::advance), UserError);
}

TEST(TemplateLoops, ABranchOfSomeInstancesOnlyIsNotRewritten) {
  const auto loop = [](const std::string& limit) {
    const std::string body = "    int v = n;\n    if constexpr (N > " + limit +
                             ") v = in[((int)i + id) & 1023];\n    if (v > 0) s += i; else t += 2 * i;\n";
    return divergent_loops(template_source(walk(both, body)), named("walk<float,5>"));
  };
  const auto of_one = loop("4"), of_both = loop("2");
  ASSERT_EQ(of_one.size(), 1U);
  ASSERT_EQ(of_both.size(), 1U);
  EXPECT_NE(of_one[0].no_rewrite.find("some instances"), std::string::npos) << of_one[0].no_rewrite;
  EXPECT_EQ(of_both[0].no_rewrite, "");
}

TEST(TemplateLoops, ResultsOfEveryInstanceStay) {
  const std::string before = walk(both, sums);
  const auto loops = divergent_loops(template_source(before), {});
  ASSERT_EQ(loops.size(), 1U);
  ASSERT_TRUE(loops[0].no_rewrite.empty()) << loops[0].no_rewrite;
  for (const Policy policy : {Policy::round_robin, Policy::advance, Policy::advance_in_order}) {
    const std::string after = rewritten(template_source(before), {}, loops[0], policy);
    EXPECT_NE(before, after);
    for (const char* name : {"walk<int,3>", "walk<float,5>"})
      EXPECT_EQ(executed_output(template_source(before), name), executed_output(template_source(after), name))
          << name << after;
  }
}

}  // namespace
}  // namespace kernelcast
