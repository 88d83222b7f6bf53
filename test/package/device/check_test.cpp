// scripts/check_devices.py: the device files agree with the published peaks, and the script notices when they do not.
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "run.h"

namespace {

namespace fs = std::filesystem;
const fs::path source = KERNELCAST_SOURCE_DIR;

/// A copy of what the script reads, removed at the end.
class DeviceCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program("python3 -c 'import tomllib'").status != 0) GTEST_SKIP() << "python3 with tomllib is missing";
    std::string name = (fs::temp_directory_path() / "kernelcast-check-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root = name;
    fs::copy(source / "devices", root / "devices", fs::copy_options::recursive);
    fs::create_directories(root / "include/kernelcast");
    fs::copy(source / "include/kernelcast/device_fields.def", root / "include/kernelcast");
  }
  void TearDown() override {
    std::error_code ignored;
    if (!root.empty()) fs::remove_all(root, ignored);
  }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::stringstream text;
    text << std::ifstream(root / "devices" / file).rdbuf();
    std::string content = text.str();
    const std::size_t at = content.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << file;
    content.replace(at, from.size(), to);
    std::ofstream(root / "devices" / file) << content;
  }
  ProgramResult check() const {
    return run_program("python3 '" + (source / "scripts/check_devices.py").string() + "' --root '" + root.string() +
                       "'");
  }

  fs::path root;
};

TEST_F(DeviceCheck, FilesAgreeWithPublishedPeaks) {
  const ProgramResult result = check();
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST_F(DeviceCheck, NoticesAWrongClock) {
  replace("nvidia-geforce-rtx-4090.toml", "boost_clock_hz = { value = 2.52e9", "boost_clock_hz = { value = 2.62e9");
  const ProgramResult result = check();
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("nvidia-geforce-rtx-4090.toml: FP32 peak is"), std::string::npos) << result.output;
}

TEST_F(DeviceCheck, NoticesAMemoryClockThatDoesNotGiveTheBandwidth) {
  replace("nvidia-tesla-t4.toml", "memory_clock_hz = { value = 5.001e9", "memory_clock_hz = { value = 6.001e9");
  const ProgramResult result = check();
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("nvidia-tesla-t4.toml: 256 bits at"), std::string::npos) << result.output;
}

TEST_F(DeviceCheck, NoticesLatenciesThatFall) {
  replace("arch/nvidia-gv100.toml", "l2_latency_cycles = { value = 193", "l2_latency_cycles = { value = 19");
  const ProgramResult result = check();
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("latencies of L1, L2 and DRAM do not rise: [28, 19, "), std::string::npos)
      << result.output;
}

TEST_F(DeviceCheck, NoticesASourceThatIsNotListed) {
  replace("nvidia-tesla-t4.toml", "source = \"jia-2019", "source = \"nobody-2019");
  const ProgramResult result = check();
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("source 'nobody-2019' is not in sources.toml"), std::string::npos) << result.output;
}

}  // namespace
