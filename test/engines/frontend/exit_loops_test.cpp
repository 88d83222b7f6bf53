// The test by which lanes leave a loop is not its divergent branch, however it is written.
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "kernelcast/loops.h"

namespace kernelcast {
namespace {

LoopSurvey survey_of(const std::string& body) {
  Source source;
  source.path = "exit.cl";
  source.text =
      "__kernel void k(__global const int* restrict in, __global int* restrict out, int n) {\n"
      "  const int id = get_global_id(0);\n  int s = 0, t = 0, x = in[id];\n" +
      body + "\n  out[id] = s + t;\n}\n";
  return survey_loops(source, {});
}

TEST(ExitLoops, TheBranchUnderTheExitIsFound) {
  for (const char* loop :
       {"  for (;;)\n    if (x > 0) {\n      --x;\n      if (in[x] & 1) s += x;\n      else t ^= x;\n    } else break;",
        "  while (1) {\n    if (x <= 0) break; else {\n      --x;\n      if (in[x] & 1) s += x;\n      else t ^= x;\n  "
        "  }\n  }",
        "  for (;;) {\n    if (x > 0) {\n      --x;\n      if (in[x] & 1) s += x;\n      else t ^= x;\n    } else { "
        "break; }\n  }",
        "  for (;;) {\n    if (!(x > 0)) break;\n      --x;\n      if (in[x] & 1) s += x;\n      else t ^= x;\n  }"}) {
    const LoopSurvey found = survey_of(loop);
    ASSERT_EQ(found.divergent.size(), 1U) << loop;
    EXPECT_TRUE(found.uneven.empty()) << loop;
    EXPECT_GE(found.divergent[0].branch_line, 7) << loop;
    EXPECT_TRUE(found.divergent[0].leaves) << loop;
    EXPECT_EQ(name_of(found.divergent[0].postpone.legal), name_of(Legality::yes)) << loop;
    EXPECT_EQ(name_of(found.divergent[0].advance.legal), name_of(Legality::no)) << loop;
    EXPECT_EQ(found.divergent[0].advance.condition, Condition::early_exit) << loop;
  }
}

TEST(ExitLoops, WithoutABranchOfItsOwnTheLoopIsUneven) {
  const LoopSurvey found = survey_of("  for (;;)\n    if (x > 0) {\n      --x;\n      s += x;\n    } else break;");
  EXPECT_TRUE(found.divergent.empty());
  ASSERT_EQ(found.uneven.size(), 1U);
  EXPECT_EQ(found.uneven[0].loop.first, 4);
}

TEST(ExitLoops, ABlockOfAMacroIsNoLoop) {
  for (const char* never : {"0", "(0)", "false"}) {
    const LoopSurvey found =
        survey_of(std::string("  do {\n    if (in[x] & 1) s += x;\n    else t ^= x;\n  } while (") + never + ");");
    EXPECT_TRUE(found.divergent.empty()) << never;
    EXPECT_TRUE(found.uneven.empty()) << never;
  }
  EXPECT_EQ(survey_of("  do {\n    if (in[x] & 1) s += x;\n    else t ^= x;\n  } while (--x > 0);").divergent.size(),
            1U);
}

TEST(ExitLoops, CodeBehindTheExitIsTheTail) {
  const LoopSurvey found = survey_of(
      "  for (int i = 0; i < n; ++i) {\n    if (x > 0) {\n      --x;\n      if (in[x] & 1) s += i;\n      else t += "
      "i;\n    } else break;\n"
      "    s = s * 3 + t;\n  }");
  ASSERT_EQ(found.divergent.size(), 1U);
  EXPECT_EQ(found.divergent[0].branch_line, 7);
  EXPECT_EQ(name_of(found.divergent[0].advance.legal), name_of(Legality::no));
}

TEST(ExitLoops, AreNotRewritten) {
  Source source;
  source.path = "exit.cl";
  source.text =
      "__kernel void k(__global const int* restrict in, __global int* restrict out, int n) {\n"
      "  const int id = get_global_id(0);\n  int s = 0, t = 0, x = in[id];\n"
      "  for (int i = 0; i < n; ++i)\n    if (x > 0) {\n      x -= 2;\n      if (in[i] > id) s += i;\n      else t ^= "
      "i;\n    } else break;\n"
      "  out[id] = s + t;\n}\n";
  const std::vector<DivergentLoop> loops = divergent_loops(source, {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_NE(loops[0].no_rewrite.find("under the test that leaves the loop"), std::string::npos) << loops[0].no_rewrite;
  EXPECT_THROW(rewritten(source, {}, loops[0], Policy::round_robin), UserError);
}

// What the library's advance in order asks for, beyond the verdict on the rewritten text.
TEST(ExitLoops, TheNextBranchIsKnownAheadWhereNothingWritesWhatItReads) {
  const auto known = [](const std::string& loop) {
    const LoopSurvey found = survey_of(loop);
    EXPECT_EQ(found.divergent.size(), 1U) << loop;
    EXPECT_EQ(name_of(found.divergent.at(0).advance_in_order.legal), name_of(Legality::yes)) << loop;
    return found.divergent.at(0).known_ahead;
  };
  const std::string counted = "  for (int i = 0; i < n; ++i) {\n", paths = " s = s * 3 + i;\n    else s = s ^ i;\n  }";
  EXPECT_TRUE(known(counted + "    if (in[i] > id)" + paths));
  EXPECT_FALSE(known(counted + "    if (s > id)" + paths));                     // what a path writes
  EXPECT_FALSE(known(counted + "    x = x * 5 + 1;\n    if (x > 0)" + paths));  // a generator in front
  EXPECT_FALSE(known(counted + "    if (out[id] > i)\n      out[id] = s;\n    else ++s;\n  }"));  // through memory
  EXPECT_FALSE(known("  while (s < n) {\n    if (in[t & 7] > id) s += 2;\n    else ++s;\n  }"));
  EXPECT_FALSE(
      known(counted + "    if (in[i] > id + 5) {\n      if (s > 9) break;\n      ++s;\n    } else s += 2;\n  }"));
}

}  // namespace
}  // namespace kernelcast
