// RAPL on a made-up powercap tree: which zones count, wrap-around, units, and what is said when there is no meter.
#include "kernelcast/power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernelcast/error.h"

namespace kernelcast::power {
namespace {

namespace fs = std::filesystem;

class Tree : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("powercap-" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void zone(const std::string& id, const std::string& name, const std::string& energy_uj,
            const std::string& range_uj = "1000000000") {
    fs::create_directories(root_ / id);
    write(id, "name", name);
    write(id, "energy_uj", energy_uj);
    write(id, "max_energy_range_uj", range_uj);
  }
  void write(const std::string& id, const std::string& file, const std::string& text) {
    std::ofstream(root_ / id / file) << text << "\n";
  }
  fs::path root_;
};

TEST_F(Tree, EnergyIsTheDifferenceInJoules) {
  zone("intel-rapl:0", "package-0", "5000000");
  Rapl rapl(root_);
  ASSERT_TRUE(rapl.there()) << rapl.reason();
  EXPECT_EQ(rapl.joules(), 0);
  write("intel-rapl:0", "energy_uj", "7500000");
  EXPECT_DOUBLE_EQ(rapl.joules(), 2.5);
  EXPECT_DOUBLE_EQ(rapl.joules(), 2.5);
}

TEST_F(Tree, ACounterThatBeginsAgainHasCountedItsRange) {
  zone("intel-rapl:0", "package-0", "990000000", "1000000000");
  Rapl rapl(root_);
  write("intel-rapl:0", "energy_uj", "15000000");  // 10 J to the end, 15 J after it
  EXPECT_DOUBLE_EQ(rapl.joules(), 25);
  write("intel-rapl:0", "energy_uj", "999000000");
  EXPECT_DOUBLE_EQ(rapl.joules(), 25 + 984);
  write("intel-rapl:0", "energy_uj", "0");
  EXPECT_DOUBLE_EQ(rapl.joules(), 25 + 984 + 1);
}

TEST_F(Tree, PackagesAndTheirMemoryCountOnce) {
  zone("intel-rapl:0", "package-0", "0");
  zone("intel-rapl:0:0", "core", "0");
  zone("intel-rapl:0:1", "dram", "0");
  zone("intel-rapl:1", "package-1", "0");
  zone("intel-rapl:2", "psys", "0");
  zone("intel-rapl-mmio:0", "package-0", "0");
  Rapl rapl(root_);
  EXPECT_EQ(rapl.zones(), "package-0, dram, package-1");
  int watts = 1;
  for (const char* id :
       {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1", "intel-rapl:2", "intel-rapl-mmio:0"}) {
    write(id, "energy_uj", std::to_string(watts) + "000000");
    watts *= 10;
  }
  EXPECT_DOUBLE_EQ(rapl.joules(), 1 + 100 + 1000);
}

TEST_F(Tree, WithoutAMeterTheReasonIsSaid) {
  EXPECT_THAT(Rapl(root_).reason(), testing::HasSubstr("no zone of a package"));
  EXPECT_THAT(Rapl(root_ / "absent").reason(), testing::HasSubstr("No such file"));
  zone("intel-rapl:0", "package-0", "not a number");
  EXPECT_THAT(Rapl(root_).reason(), testing::HasSubstr("intel-rapl:0/energy_uj cannot be read"));
  fs::remove(root_ / "intel-rapl:0" / "energy_uj");
  EXPECT_THAT(Rapl(root_).reason(), testing::HasSubstr("does not exist"));
  zone("intel-rapl:0", "package-0", "1", "");
  EXPECT_THAT(Rapl(root_).reason(), testing::HasSubstr("max_energy_range_uj has no number"));
  const Power p = rapl_power(root_, 0.01, rest);
  EXPECT_FALSE(p.watts);
  EXPECT_THAT(p.how, testing::StartsWith("no meter: "));
}

TEST_F(Tree, AMeterThatStandsStillIsNone) {
  zone("intel-rapl:0", "package-0", "5");
  EXPECT_THAT(rapl_power(root_, 0.01, rest).how, testing::HasSubstr("stand still"));
}

TEST_F(Tree, AMeterThatVanishesIsAnError) {
  zone("intel-rapl:0", "package-0", "5");
  Rapl rapl(root_);
  fs::remove_all(root_ / "intel-rapl:0");
  EXPECT_THROW(rapl.joules(), LimitError);
}

TEST_F(Tree, PowerIsEnergyOverTimeOfTheLoad) {
  zone("intel-rapl:0", "package-0", "0");
  const Power p = rapl_power(root_, 0.2, [&](double seconds) {
    rest(seconds);
    write("intel-rapl:0", "energy_uj", "3000000");
  });
  ASSERT_TRUE(p.watts) << p.how;
  EXPECT_LE(*p.watts, 15);  // 3 J in 0.2 s or a little more
  EXPECT_GT(*p.watts, 5);
  EXPECT_EQ(p.how, "RAPL, package-0");
}

TEST(Nvml, ALibraryThatIsNotThereIsNoMeter) {
  const Power p = nvml_power("libnone-of-this-name.so", {"GTX 1080"}, 0.01);
  EXPECT_FALSE(p.watts);
  EXPECT_THAT(p.how, testing::HasSubstr("libnone-of-this-name.so"));
}

}  // namespace
}  // namespace kernelcast::power
