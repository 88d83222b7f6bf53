// Binder against its slow twin on well-known kernels, for several warp sizes and memory geometries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare.h"
#include "kernels.h"

namespace kernelcast {
namespace {

const MemoryGeometry geometries[] = {
    {32, 32, 128, 32, 4},
    {32, 32, 64, 16, 4},
    {64, 64, 64, 32, 4},
    {64, 32, 128, 32, 4},
    {32, 32, 128, 32, 8},
    {16, 48, 64, 32, 4},
    {32, 32, 128, 32, 4, 32, 4},
    {32, 128, 128, 32, 4, 32, 0, 4},
    {64, 64, 64, 32, 4, 4, 0, 0, 4},
    {32, 32, 128, 32, 4, 0, 0, 0, 0, 1},
};

class BindTwin : public testing::TestWithParam<kernels::Case> {};

TEST_P(BindTwin, AgreesOnEveryNumber) {
  const auto& c = GetParam();
  for (const auto& geometry : geometries) {
    Binder binder(c.profile, geometry);
    for (const auto& launch : c.launches) {
      SCOPED_TRACE("warps of " + std::to_string(geometry.warp_size) + ", grid " + std::to_string(launch.grid.x) + "x" +
                   std::to_string(launch.grid.y) + ", block " + std::to_string(launch.block.x) + "x" +
                   std::to_string(launch.block.y));
      EXPECT_EQ(compare::differences(c.profile, binder.bind(launch), twin::count(c.profile, launch, geometry)), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, BindTwin, testing::ValuesIn(kernels::all_cases()),
                         [](const auto& p) { return p.param.name + "_" + std::to_string(p.index); });

}  // namespace
}  // namespace kernelcast
