// Flat barriers, decided twice: by the front end from all paths to a barrier, and by execution from the instructions
// that each lane ran. Numbers are a group's, counted by hand in the text of each kernel.
#include <gtest/gtest.h>

#include <string>

#include "kernelcast/bind.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

struct BarrierCase {
  const char* name;
  const char* body;  // over s[64] in local memory, g, x (a float), l (the local id), n = 8
  double barriers, flat;
};

const BarrierCase barrier_cases[] = {
    // The block has two barriers, and only the first follows the store.
    {"store_barrier_arithmetic_barrier",
     "s[l] = x; barrier(1); x = x * x + x; x = x * x + x; g[l] = x; barrier(1); g[l + 64] = s[63 - l];", 2, 1},
    {"arithmetic_after_the_store", "s[l] = x; g[l] = x * x; barrier(1); g[l] += s[63 - l];", 1, 0},
    {"arithmetic_before_the_store", "x = x * x; s[l] = x; barrier(1); g[l] = s[63 - l];", 1, 1},
    {"store_in_a_branch", "if (l < 16) s[l] = x; barrier(1); g[l] = s[l & 15];", 1, 1},
    // Some lanes compute, and the others wait for them.
    {"arithmetic_in_a_branch_after_the_store",
     "s[l] = x; if (l < 16) g[l] = sqrt(g[l + 128]) * x; barrier(1); g[l] += s[63 - l];", 1, 0},
    {"fused_multiply_add", "s[l] = x; g[l] = fma(x, x, x); barrier(1); g[l] += s[63 - l];", 1, 0},
    {"square_root", "s[l] = x; g[l] = sqrt(x); barrier(1); g[l] += s[63 - l];", 1, 0},
    {"integers_are_addresses", "s[l] = x; int k = l * 3 + n; barrier(1); g[k] = s[63 - l];", 1, 1},
    {"no_store", "g[l] = x; barrier(1); g[l + 64] = s[l];", 1, 0},
    {"tiles_in_a_loop",
     "for (int k = 0; k < n; ++k) { s[l] = g[k]; barrier(1); x += s[63 - l] * s[l]; barrier(1); } g[l] = x;", 16, 8},
    {"unrolled",
     "_Pragma(\"unroll\") for (int k = 0; k < 4; ++k) { s[l] = g[k]; barrier(1); x += s[63 - l] * s[l]; barrier(1); }"
     " g[l] = x;",
     8, 4},
    // The last test of the loop stands between its barrier and the next one.
    {"barrier_after_the_loop", "for (int k = 0; k < n; ++k) { s[l] = g[k]; barrier(1); } barrier(1); g[l] = s[63 - l];",
     9, 8},
};

class FlatBarriers : public ::testing::TestWithParam<BarrierCase> {};

TEST_P(FlatBarriers, SymbolicAndExecutedAreTheNumbersByHand) {
  Source source;
  source.path = "flat.cl";
  source.language = Language::opencl;
  source.text =
      "__kernel void k(__global float* g, int n) {\n  __local float s[64];\n  int l = get_local_id(0);\n"
      "  float x = g[l];\n  " +
      std::string(GetParam().body) + "\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  const Analysis analysis = analyze(source, options);
  ASSERT_TRUE(analysis.program) << analysis.no_program;
  Launch launch;
  launch.grid = {3, 1, 1};
  launch.block = {64, 1, 1};
  launch.args["n"] = std::int64_t{8};
  launch.buffers["g"].elements = 4096;
  const MemoryGeometry geometry;
  const Workload closed = Binder(analysis.profile, geometry).bind(launch);
  EXPECT_EQ(closed.barriers, 3 * GetParam().barriers);
  EXPECT_EQ(closed.flat_barriers, 3 * GetParam().flat);
  ExecuteOptions execution;
  execution.sample = -1;
  execution.jobs = 1;
  execution.check_shared = false;
  for (const bool apart : {false, true}) {
    execution.independent_threads = apart;
    const Workload executed = execute(analysis.profile, *analysis.program, launch, geometry, execution).workload;
    EXPECT_EQ(executed.barriers, 3 * GetParam().barriers) << apart;
    EXPECT_EQ(executed.flat_barriers, 3 * GetParam().flat) << apart;
  }
  // Execution decides by itself: a profile that calls nothing flat changes its answer in nothing.
  KernelProfile none = analysis.profile;
  for (Block& b : none.blocks) b.flat_barriers = 0;
  EXPECT_EQ(execute(none, *analysis.program, launch, geometry, execution).workload.flat_barriers, 3 * GetParam().flat);
}

INSTANTIATE_TEST_SUITE_P(All, FlatBarriers, ::testing::ValuesIn(barrier_cases),
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace kernelcast
