// Every example kernel, read by the front end, counted in closed form and by executing the same index arithmetic lane
// by lane: the two agree exactly, on launches with whole blocks, tails and partly filled warps.
#include <gtest/gtest.h>

#include "engines/frontend/example_launches.h"
#include "engines/profile/compare.h"

namespace kernelcast {
namespace {

using examples::ExampleLaunch;

KernelProfile profile_of(const ExampleLaunch& example) {
  FrontendOptions options;
  options.target = example.target;
  return analyze(examples::source_of(example), options).profile;
}

class Examples : public ::testing::TestWithParam<ExampleLaunch> {};

TEST_P(Examples, ClosedFormsEqualExecution) {
  const KernelProfile profile = profile_of(GetParam());
  for (const MemoryGeometry& geometry :
       {MemoryGeometry{}, MemoryGeometry{64, 64, 64, 32, 4}, MemoryGeometry{32, 32, 128, 16, 4}}) {
    Binder binder(profile, geometry);
    const Workload workload = binder.bind(GetParam().launch);
    EXPECT_EQ(compare::differences(profile, workload, twin::count(profile, GetParam().launch, geometry)), "");
  }
}

std::string test_name(const ::testing::TestParamInfo<ExampleLaunch>& test) {
  return examples::name_of(test.param, test.index);
}
INSTANTIATE_TEST_SUITE_P(Frontend, Examples, ::testing::ValuesIn(examples::launches), test_name);

}  // namespace
}  // namespace kernelcast
