// What load_device makes of good files: inheritance, sources, defaults. Bad files: test/error/device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "device/field_table.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"

namespace kernelcast::load_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string data = KERNELCAST_SOURCE_DIR "/test/unit/device/data/";

const FieldValue& value(const Device& d, Field f) { return d.values[static_cast<std::size_t>(f)]; }

TEST(LoadDevice, ReadsHeadAndOwnNumbers) {
  Device d = load_device(data + "nvidia-geforce-gtx-280.toml");
  EXPECT_EQ(d.id, "nvidia-geforce-gtx-280");
  EXPECT_EQ(d.name, "NVIDIA GeForce GTX 280");
  EXPECT_EQ(d.kind, "gpu");
  EXPECT_EQ(d.file, data + "nvidia-geforce-gtx-280.toml");
  EXPECT_THAT(d.aliases, ElementsAre("Zotac's card of 2008", "G200-300"));
  EXPECT_EQ(d.get(Field::compute_units), 30);
  EXPECT_EQ(d.get(Field::clock_base_clock_hz), 1.296e9);
  EXPECT_EQ(value(d, Field::compute_units).origin, d.file);
}

TEST(LoadDevice, ASourceIsTheCitationWithThePlace) {
  Device d = load_device(data + "nvidia-geforce-gtx-280.toml");
  EXPECT_EQ(value(d, Field::compute_units).source, "NVIDIA, GeForce GTX 280 specifications, nvidia.com, 2008");
  EXPECT_EQ(value(d, Field::memory_shared_banks).source, "NVIDIA, CUDA C Programming Guide, version 4.2, 2012, F.3.3");
}

TEST(LoadDevice, InheritsOverTwoSteps) {
  Device d = load_device(data + "nvidia-geforce-gtx-280.toml");
  EXPECT_EQ(d.vendor, "NVIDIA");
  EXPECT_EQ(d.architecture, "GT200");
  EXPECT_EQ(d.compute_capability, "1.3");
  EXPECT_EQ(d.codegen_target, "sm_20");
  EXPECT_THAT(d.codegen_note, HasSubstr("no back end below sm_20"));
  EXPECT_EQ(d.get(Field::compute_warp_size), 32);
  EXPECT_EQ(value(d, Field::compute_warp_size).origin, data + "arch/nvidia-tesla.toml");
  EXPECT_EQ(value(d, Field::compute_fp32_lanes_per_unit).origin, data + "arch/nvidia-gt200.toml");
  EXPECT_THAT(d.notes, ElementsAre("Half a warp issues its memory requests together.",
                                   "The shader clock is the clock of the compute units."));
}

TEST(LoadDevice, UnknownOverridesAnInheritedNumber) {
  Device d = load_device(data + "nvidia-geforce-gtx-280.toml");
  EXPECT_EQ(d.get(Field::limits_max_registers_per_thread), std::nullopt);
  EXPECT_THAT(value(d, Field::limits_max_registers_per_thread).source, HasSubstr("overrides"));
  EXPECT_EQ(d.get_or(Field::limits_max_registers_per_thread, 63), 63);
}

TEST(LoadDevice, AFileMayBringItsOwnSources) {
  Device d = load_device(data + "amd-radeon-hd-7970.toml");
  EXPECT_EQ(value(d, Field::compute_warp_size).source, "A citation that this file alone has, p. 3");
  EXPECT_EQ(d.get(Field::memory_dram_bytes), 3221225472.0);
}

TEST(Require, NamesTheReasonAndTheFile) {
  Device d = load_device(data + "nvidia-geforce-gtx-280.toml");
  EXPECT_EQ(d.require(Field::compute_units), 30);
  try {
    (void)d.require(Field::memory_l2_bandwidth_bytes_per_s);
    FAIL() << "an unknown number was returned";
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()),
              "nvidia-geforce-gtx-280: memory.l2_bandwidth_bytes_per_s is unknown (not "
              "published); set it in " +
                  d.file);
  }
  try {
    (void)d.require(Field::system_tdp_w);
    FAIL() << "a number that is not given was returned";
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("system.tdp_w is unknown (not given)"));
  }
}

TEST(Geometry, TakesTheDevicesNumbersAndTheDefaultsElsewhere) {
  MemoryGeometry gt200 = load_device(data + "nvidia-geforce-gtx-280.toml").geometry();
  EXPECT_EQ(
      gt200,
      (MemoryGeometry{.warp_size = 32, .sector_bytes = 32, .segment_bytes = 128, .shared_banks = 16, .bank_bytes = 4}));
  EXPECT_EQ(load_device(data + "amd-radeon-hd-7970.toml").geometry().warp_size, 64);
  EXPECT_EQ(
      Device().geometry(),
      (MemoryGeometry{.warp_size = 32, .sector_bytes = 32, .segment_bytes = 128, .shared_banks = 32, .bank_bytes = 4}));
}

TEST(LoadDevice, AUsersFileMayLieAnywhere) {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kernelcast_device_load_test";
  std::filesystem::create_directories(folder);
  std::string file = (folder / "mine.toml").string();
  std::ofstream(file) << "id = \"mine\"\nname = \"Mine\"\nkind = \"cpu\"\n[sources]\nme = \"Measured\"\n[compute]\n"
                         "units = { value = 6, source = \"me\" }\n";
  Device d = load_device(file);
  EXPECT_EQ(d.codegen_target, "host");
  EXPECT_EQ(d.get(Field::compute_units), 6);
  std::filesystem::remove_all(folder);
}

TEST(LoadDevice, AUsersFileMayInheritFromTheCatalogue) {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kernelcast_device_inherit_test";
  std::filesystem::create_directories(folder);
  std::string file = (folder / "mine.toml").string();
  std::ofstream(file) << "id = \"mine\"\nname = \"Mine\"\nkind = \"gpu\"\ninherits = \"nvidia-gt200\"\n";
  Device mine = load_device(file), theirs = DeviceCatalog("").find("gtx280");
  EXPECT_EQ(mine.architecture, theirs.architecture);
  EXPECT_EQ(mine.require(Field::compute_warp_size), theirs.require(Field::compute_warp_size));
  EXPECT_EQ(value(mine, Field::compute_warp_size).source, value(theirs, Field::compute_warp_size).source);
  std::filesystem::remove_all(folder);
}

TEST(Fields, EveryRowIsUsable) {
  for (std::size_t i = 0; i < field_count; ++i) {
    auto f = static_cast<Field>(i);
    const FieldInfo& row = info(f);
    SCOPED_TRACE(full_name(f));
    EXPECT_LE(row.minimum, row.maximum);
    EXPECT_FALSE(row.meaning.empty());
    EXPECT_EQ(field_named(row.section, row.key), f);
  }
  EXPECT_EQ(field_named("memory", "units"), std::nullopt);
  EXPECT_THROW((void)info(Field::count_), InternalError);
}

TEST(Fields, UnitsComeFromTheKeyOrTheMeaning) {
  EXPECT_EQ(unit_of(Field::clock_boost_clock_hz), "Hz");
  EXPECT_EQ(unit_of(Field::memory_dram_bandwidth_bytes_per_s), "bytes/s");
  EXPECT_EQ(unit_of(Field::limits_shared_bytes_per_unit), "bytes");
  EXPECT_EQ(unit_of(Field::limits_shared_allocation_unit), "bytes");
  EXPECT_EQ(unit_of(Field::system_launch_overhead_s), "s");
  EXPECT_EQ(unit_of(Field::compute_units), "");
}

TEST(Fields, SuggestionsKnowUnitsSectionsAndMisspellings) {
  EXPECT_EQ(suggest_key("clock", "boost_clock_mhz"), "; did you mean boost_clock_hz? Its value is in hertz");
  EXPECT_EQ(suggest_key("memory", "l2_size"), "; did you mean l2_bytes? Its value is in bytes");
  EXPECT_EQ(suggest_key("memory", "dram_bandwidth_gb_s"),
            "; did you mean dram_bandwidth_bytes_per_s? Its value is in bytes per second");
  EXPECT_EQ(suggest_key("memory", "boost_clock_hz"), "; boost_clock_hz belongs in [clock]");
  EXPECT_EQ(suggest_key("compute", "unit"), "; did you mean units?");
  EXPECT_EQ(suggest_key("compute", "zzzzzzzzzzzz"), "");
}

TEST(Fields, NumbersReadAsPeopleWriteThem) {
  EXPECT_EQ(number_text(30), "30");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.25), "0.25");
  EXPECT_EQ(number_text(1e7), "1e7");
  EXPECT_EQ(number_text(1.296e9), "1.296e9");
  EXPECT_EQ(number_text(1e-8), "1e-8");
  EXPECT_EQ(number_text(16777216), "16777216");
  EXPECT_EQ(number_text(-5), "-5");
}

}  // namespace
}  // namespace kernelcast::load_test
