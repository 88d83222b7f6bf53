// Loops in functions that kernels call: found with what the calls hand over, judged with more caution, never rewritten.
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "kernelcast/loops.h"

namespace kernelcast {
namespace {

Source source_of(const std::string& text, const char* path = "loop.cu") {
  Source s;
  s.path = path;
  s.text = text;
  return s;
}

const std::string loop = R"(
  int s = 0, t = 0;
  for (int i = 0; i < n; ++i) {
    if (in[(i * 3 + id) & 1023] > 0) { s += i; } else { t += 2 * i; }
  }
)";

std::string with_call(const std::string& parameters, const std::string& argument, const std::string& body = loop) {
  return "__device__ int sums(const int* __restrict__ in, " + parameters + ", int n) {" + body +
         "  return s + t;\n}\n"
         "__global__ void k(const int* __restrict__ in, int* __restrict__ out, int n) {\n"
         "  int id = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  out[id] = sums(in, " +
         argument + ", n);\n}\n";
}

TEST(CalledLoops, AParameterDependsOnTheLaneWhenACallSaysSo) {
  const auto loops = divergent_loops(source_of(with_call("int id", "id")), {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].kernel, "k");
  EXPECT_EQ(loops[0].function, "sums");
  EXPECT_EQ(loops[0].loop.first, 3);
  EXPECT_EQ(name_of(loops[0].postpone.legal), name_of(Legality::yes)) << loops[0].postpone.reason;
  EXPECT_EQ(name_of(loops[0].advance.legal), name_of(Legality::yes)) << loops[0].advance.reason;
  EXPECT_FALSE(loops[0].can_record);
  EXPECT_NE(loops[0].no_rewrite.find("function sums"), std::string::npos) << loops[0].no_rewrite;
  EXPECT_THROW(rewritten(source_of(with_call("int id", "id")), {}, loops[0], Policy::round_robin), UserError);
}

TEST(CalledLoops, AValueThatAllLanesShareIsNoReason) {
  EXPECT_TRUE(divergent_loops(source_of(with_call("int id", "n / 2")), {}).empty());
}

TEST(CalledLoops, OfTwoCallsTheOneThatDiffersCounts) {
  const auto loops = divergent_loops(source_of(with_call("int id", "n / 2, n) + sums(in, id")), {});
  ASSERT_EQ(loops.size(), 1U);
}

TEST(CalledLoops, ThroughASecondFunctionAndInOpenCl) {
  const std::string text = "int sums(__global const int* restrict in, int id, int n) {" + loop +
                           "  return s + t;\n}\n"
                           "int twice(__global const int* restrict in, int at, int n) { return 2 * sums(in, at, n); }\n"
                           "__kernel void k(__global const int* restrict in, __global int* restrict out, int n) {\n"
                           "  out[get_global_id(0)] = twice(in, get_global_id(0), n);\n}\n";
  const auto loops = divergent_loops(source_of(text, "loop.cl"), {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].function, "sums");
  EXPECT_EQ(name_of(loops[0].postpone.legal), name_of(Legality::yes)) << loops[0].postpone.reason;
}

TEST(CalledLoops, FoundOnceForTwoKernels) {
  const std::string text = with_call("int id", "id") +
                           "__global__ void k2(const int* __restrict__ in, int* __restrict__ out, int n) {\n"
                           "  out[threadIdx.x] = sums(in, threadIdx.x, n);\n}\n";
  EXPECT_EQ(divergent_loops(source_of(text), {}).size(), 1U);
}

// Each lane's own order is kept, and nobody else sees its variable; exchanged iterations may meet through another name.
TEST(CalledLoops, AReferenceToTheLanesOwnVariableMayBePostponed) {
  const auto loops = divergent_loops(source_of(with_call("int& id", "id")), {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(name_of(loops[0].postpone.legal), name_of(Legality::yes)) << loops[0].postpone.reason;
  EXPECT_EQ(name_of(loops[0].advance_in_order.legal), name_of(Legality::yes));
  EXPECT_EQ(name_of(loops[0].advance.legal), name_of(Legality::unknown));
}

TEST(CalledLoops, OwnPartsAndReferencesHandedOnAreOwn) {
  const std::string head = with_call("int& id", "id");
  const std::string body = head.substr(0, head.find("__global__"));
  const auto verdict = [&](const std::string& kernels) {
    const auto loops = divergent_loops(source_of(body + kernels), {});
    EXPECT_EQ(loops.size(), 1U) << kernels;
    return loops.empty() ? Legality::no : loops[0].postpone.legal;
  };
  const std::string open = "__global__ void k(const int* in, int* out, int n) { ";
  const auto called = [&](const std::string& before, const std::string& argument) {
    return verdict(open + before + " out[threadIdx.x] = sums(in, " + argument + ", n); }\n");
  };
  EXPECT_EQ(called("struct { int x, y[4]; } a; a.y[1] = threadIdx.x;", "a.y[1]"), Legality::yes);
  EXPECT_EQ(verdict("__device__ int on(const int* in, int& id, int n) { return sums(in, id, n); }\n" + open +
                    "int id = threadIdx.x; out[id] = on(in, id, n); }\n"),
            Legality::yes);
  EXPECT_EQ(called("out[threadIdx.x] = threadIdx.x;", "out[threadIdx.x]"), Legality::unknown);
  EXPECT_EQ(called("__shared__ int id; id = threadIdx.x;", "id"), Legality::unknown);
  EXPECT_EQ(called("int* p = out + threadIdx.x;", "*p"), Legality::unknown);
  EXPECT_EQ(called("int id = threadIdx.x; out[id + n] = sums(in, id, n);", "out[id]"), Legality::unknown);
}

TEST(CalledLoops, AReferenceCannotBeJudged) {
  const auto loops = divergent_loops(source_of(with_call("int& id", "out[threadIdx.x]")), {});
  ASSERT_EQ(loops.size(), 1U);
  for (const LegalityVerdict& v : {loops[0].postpone, loops[0].advance, loops[0].advance_in_order}) {
    EXPECT_EQ(name_of(v.legal), name_of(Legality::unknown));
    EXPECT_EQ(name_of(v.condition), name_of(Condition::aliasing));
    EXPECT_GT(v.line, 0);
  }
}

// A pointer that a kernel gets cannot mean shared memory; one that a function gets can.
TEST(CalledLoops, APointerMayMeanSharedMemory) {
  const std::string body = R"(
  for (int i = 0; i < n; ++i) {
    if (p[id + i] > 0) { tile[id + i] += 1; } else { tile[id + i] += 2; }
  }
)";
  const std::string head = "__shared__ int tile[1024];\n";
  const std::string called = head + "__device__ void run(const int* p, int id, int n) {" + body +
                             "}\n__global__ void k(int* out, int n) { run(tile, threadIdx.x, n); out[0] = tile[0]; }\n";
  const std::string own = head + "__global__ void k(const int* p, int* out, int n) {\n  int id = threadIdx.x;" + body +
                          "  out[id] = tile[id];\n}\n";
  const auto in_function = divergent_loops(source_of(called), {}), in_kernel = divergent_loops(source_of(own), {});
  ASSERT_EQ(in_function.size(), 1U);
  ASSERT_EQ(in_kernel.size(), 1U);
  EXPECT_EQ(name_of(in_kernel[0].advance.legal), name_of(Legality::yes)) << in_kernel[0].advance.reason;
  EXPECT_NE(name_of(in_function[0].advance.legal), name_of(Legality::yes));
}

TEST(CalledLoops, RecursionEnds) {
  const std::string text = "__device__ int down(const int* __restrict__ in, int id, int n) {" + loop +
                           "  return n > 0 ? s + t + down(in, id, n - 1) : 0;\n}\n"
                           "__global__ void k(const int* __restrict__ in, int* __restrict__ out, int n) {\n"
                           "  out[threadIdx.x] = down(in, threadIdx.x, n);\n}\n";
  EXPECT_EQ(divergent_loops(source_of(text), {}).size(), 1U);
}

TEST(CalledLoops, LoopsThatLanesLeaveAtDifferentTimes) {
  const std::string text =
      "__device__ int count(int from) { int k = 0; while (from > 0) { from /= 2; ++k; } return k; }\n"
      "__global__ void k(int* out) { out[threadIdx.x] = count(threadIdx.x); }\n";
  const LoopSurvey survey = survey_loops(source_of(text), {});
  EXPECT_TRUE(survey.divergent.empty());
  ASSERT_EQ(survey.uneven.size(), 1U);
  EXPECT_EQ(survey.uneven[0].function, "count");
}

}  // namespace
}  // namespace kernelcast
