// The facade: the sums of a launch, which can be followed on paper, and the list of devices.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernelcast/error.h"
#include "kernelcast/forecast.h"

namespace kernelcast {
namespace {

const std::string folder = KERNELCAST_SOURCE_DIR "/devices";

TEST(Facade, SumsOfALaunch) {
  Source source;
  source.path = "axpy.cl";
  source.text =
      "__kernel void axpy(__global const float* x, __global float* y, float a) {\n"
      "  int i = get_global_id(0);\n"
      "  y[i] = a * x[i] + y[i];\n"
      "}\n";
  ForecastOptions options;
  options.devices = {"v100"};
  options.device_folder = folder;
  options.grid = Dim3{64, 1, 1};
  options.launch.block = {256, 1, 1};
  options.launch.args["a"] = 2.0;
  const ForecastResult result = forecast(source, options);
  ASSERT_EQ(result.devices.size(), 1u);
  ASSERT_TRUE(result.devices[0].counts);
  const LaunchSums& sums = *result.devices[0].counts;
  constexpr double threads = 64 * 256;
  EXPECT_EQ(sums.flop32, 2 * threads);
  EXPECT_EQ(sums.flop64, 0);
  EXPECT_EQ(sums.tensor_flop, 0);
  EXPECT_EQ(sums.footprint_read_bytes, 2 * 4 * threads);
  EXPECT_EQ(sums.footprint_write_bytes, 4 * threads);
  EXPECT_GT(sums.warp_instructions, 3 * threads / 32);
}

TEST(Facade, DevicesAreListedInOrder) {
  const std::vector<DeviceEntry> devices = devices_in(folder);
  EXPECT_TRUE(std::is_sorted(devices.begin(), devices.end(),
                             [](const DeviceEntry& a, const DeviceEntry& b) { return a.id < b.id; }));
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [](const DeviceEntry& d) { return d.id == "nvidia-tesla-v100-pcie-16gb"; });
  ASSERT_NE(found, devices.end());
  EXPECT_EQ(found->kind, "gpu");
  EXPECT_NE(found->name.find("V100"), std::string::npos);
  EXPECT_THROW(devices_in(folder + "/none"), UsageError);
}

}  // namespace
}  // namespace kernelcast
