// The CUDA back end on a real GPU, where there is one.
#include <gtest/gtest.h>

#include "probe/cuda/make_plan.h"
#include "probe/cuda/plan.h"

namespace {

using namespace kernelcast::probe::cuda;

TEST(CudaGpu, EveryKernelRunsAndTheClockCounts) {
  const Record about = run_plan({}, "", nullptr);
  if (about.no_device) GTEST_SKIP() << about.failure;
  PlanOptions options;
  options.max_rounds = 6;
  options.seconds = 20;
  const Plan plan = make_plan(about.info, options);
  const Record record = run_plan(plan, "", nullptr);
  ASSERT_EQ(record.failure, "");
  for (const auto& s : record.launches) {
    EXPECT_EQ(s.failure, "") << s.name;
    EXPECT_FALSE(s.runs.empty()) << s.name;
    if (s.name == "chain.ffma.long" && !s.runs.empty()) {
      // A dependent multiply-add takes 2 to 40 cycles on every NVIDIA GPU so far.
      EXPECT_GT(s.runs.back().cycles / s.items, 2);
      EXPECT_LT(s.runs.back().cycles / s.items, 40);
    }
  }
}

}  // namespace
