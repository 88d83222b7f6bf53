// The published throughput under each of the 256 control codes of GK110.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "probe/steps.h"

namespace {

using namespace kernelcast;

TEST(ControlCodeSweep, ThroughputIsWithinSixPercentOnAtLeast225Codes) {
  std::ifstream in(std::string(KERNELCAST_SOURCE_DIR) + "/test/data/gk110_control_codes.csv");
  ASSERT_TRUE(in);
  const sm::Spec spec = sm::load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-gk110.toml");
  probe::TestedSm m;
  m.encoding = {spec.group_instructions, spec.default_code};
  m.run = [&](const sm::Program& program, int warps) {
    sm::SmLaunch launch;
    launch.warps_per_block = warps;
    return sm::simulate(spec, program, launch).clocks;
  };
  std::string line, off;
  std::getline(in, line);
  std::getline(in, line);
  int within = 0, codes = 0;
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    std::string code, published;
    std::getline(cells, code, ',');
    std::getline(cells, published, ',');
    const auto value = static_cast<std::uint32_t>(std::stoul(code, nullptr, 16));
    std::vector<int> destinations;
    for (int i = 32; i < 56; ++i) destinations.push_back(i);
    const auto body = probe::independent(sm::Op::ffma, {0, 1, 4}, destinations, 252, value);
    const double rate = probe::throughput(m, body, 252), expected = std::stod(published);
    ++codes;
    if (std::abs(rate - expected) <= 0.06 * expected) {
      ++within;
    } else {
      off += code + ": " + std::to_string(rate) + " for " + published + "\n";
    }
  }
  EXPECT_EQ(codes, 256);
  EXPECT_GE(within, 225) << off;
  RecordProperty("within", within);
}

}  // namespace
