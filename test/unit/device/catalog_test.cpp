// Names of devices: the spellings that must all find one device, and what other names get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "device/folder.h"
#include "device/name_key.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string data = KERNELCAST_SOURCE_DIR "/test/unit/device/data";

std::string usage_error(std::string_view name) {
  try {
    Device d = DeviceCatalog(data).find(name);
    return "found " + d.id;
  } catch (const UsageError& e) {
    return e.what();
  }
}

class NameOfADevice : public testing::TestWithParam<std::pair<const char*, const char*>> {};
TEST_P(NameOfADevice, FindsTheDevice) {
  auto [name, id] = GetParam();
  EXPECT_EQ(DeviceCatalog(data).find(name).id, id);
}
INSTANTIATE_TEST_SUITE_P(
    Catalog, NameOfADevice,
    testing::Values(std::pair("nvidia-geforce-rtx-3080", "nvidia-geforce-rtx-3080"),
                    std::pair("NVIDIA GeForce RTX 3080", "nvidia-geforce-rtx-3080"),
                    std::pair("rtx3080", "nvidia-geforce-rtx-3080"), std::pair("RTX 3080", "nvidia-geforce-rtx-3080"),
                    std::pair("geforce-rtx-3080", "nvidia-geforce-rtx-3080"),
                    std::pair("GeForce(R) RTX_3080", "nvidia-geforce-rtx-3080"),
                    std::pair("rtx 3080 laptop gpu", "nvidia-geforce-rtx-3080-laptop"),
                    std::pair("RTX 3080 Laptop", "nvidia-geforce-rtx-3080-laptop"),
                    std::pair("RTX 3080 mobile", "nvidia-geforce-rtx-3080-laptop"),
                    std::pair("gtx280", "nvidia-geforce-gtx-280"), std::pair("GTX 280", "nvidia-geforce-gtx-280"),
                    std::pair("g200-300", "nvidia-geforce-gtx-280"), std::pair("hd7970", "amd-radeon-hd-7970"),
                    std::pair("Radeon HD 7970", "amd-radeon-hd-7970"), std::pair("ATI HD 7970", "amd-radeon-hd-7970"),
                    std::pair("3080", "nvidia-geforce-rtx-3080"), std::pair("280", "nvidia-geforce-gtx-280"),
                    std::pair("AMD Radeon(TM) HD 7970 Graphics", "amd-radeon-hd-7970"),
                    std::pair("r9-280x", "amd-radeon-hd-7970"), std::pair("tesla t4", "nvidia-tesla-t4"),
                    std::pair("Quadro T4", "nvidia-quadro-t4")));

TEST(Catalog, ShortNamesOfTwoDevicesAreAmbiguous) {
  EXPECT_EQ(usage_error("T4"), "device \"T4\" is ambiguous: nvidia-quadro-t4, nvidia-tesla-t4; name one of these");
}

TEST(Catalog, UnknownNamesGetTheNearest) {
  EXPECT_THAT(usage_error("rtx3081"),
              AllOf(HasSubstr("unknown device \"rtx3081\""), HasSubstr("nvidia-geforce-rtx-3080")));
  EXPECT_THAT(usage_error("gtx 7970"), HasSubstr("unknown device"));
  EXPECT_THAT(usage_error("rtx 308"),
              AllOf(HasSubstr("nvidia-geforce-rtx-3080"), HasSubstr("nvidia-geforce-rtx-3080-laptop")));
  EXPECT_THAT(usage_error("completely different"), HasSubstr("`kernelcast devices`"));
  for (const char* name : {"", " ", "--", "sources", "nvidia", "../data/sources"})
    EXPECT_THAT(usage_error(name), Not(HasSubstr("found"))) << name;
}

TEST(Catalog, PathsAreRead) {
  EXPECT_EQ(DeviceCatalog(data).find(data + "/nvidia-tesla-t4.toml").name, "NVIDIA Tesla T4");
  EXPECT_EQ(usage_error("no/such/device.toml"), "there is no device file no/such/device.toml");
  EXPECT_THAT(usage_error("device.toml"), HasSubstr("there is no device file"));
}

TEST(Catalog, WhatWasFoundIsNotReadAgain) {
  const auto copy = std::filesystem::path(testing::TempDir()) / "found-once";
  std::filesystem::remove_all(copy);
  std::filesystem::copy(data, copy, std::filesystem::copy_options::recursive);
  DeviceCatalog catalog(copy.string());
  const DeviceCatalog before = catalog;
  EXPECT_EQ(catalog.find("tesla t4").id, "nvidia-tesla-t4");
  std::filesystem::remove(copy / "nvidia-tesla-t4.toml");
  EXPECT_EQ(before.find("tesla t4").id, "nvidia-tesla-t4");
  EXPECT_EQ(DeviceCatalog(copy.string()).find("tesla t4").id, "nvidia-quadro-t4");
  OperatingPoint slow;
  slow.clock = OperatingPoint::Clock::given;
  slow.clock_hz = 7e8;
  catalog.run_at(slow);
  EXPECT_NE(catalog.find("tesla t4").get(Field::clock_boost_clock_hz),
            before.find("tesla t4").get(Field::clock_boost_clock_hz));
}

TEST(Catalog, HostIsThisMachine) { EXPECT_EQ(DeviceCatalog(data).find("Host").id, "host"); }

TEST(Catalog, ListsDevicesAndNothingElse) {
  EXPECT_THAT(DeviceCatalog(data).ids(),
              testing::ElementsAre("amd-radeon-hd-7970", "nvidia-geforce-gtx-280", "nvidia-geforce-rtx-3080",
                                   "nvidia-geforce-rtx-3080-laptop", "nvidia-quadro-t4", "nvidia-tesla-t4"));
  for (const DeviceHead& head : DeviceCatalog(data).heads()) {
    EXPECT_EQ(head.trouble, "");
    EXPECT_EQ(head.kind, "gpu");
    EXPECT_NE(head.name, "");
  }
}

TEST(Catalog, ABrokenFileDoesNotHideTheOthers) {
  DeviceCatalog broken(KERNELCAST_SOURCE_DIR "/test/error/device");
  bool some_trouble = false;
  for (const DeviceHead& head : broken.heads()) some_trouble |= !head.trouble.empty();
  EXPECT_TRUE(some_trouble);
  EXPECT_THROW((void)broken.find("no such device at all"), UsageError);
}

TEST(Catalog, AMissingFolderIsAUsageError) { EXPECT_THROW(DeviceCatalog("no/such/folder"), UsageError); }

TEST(DeviceFolder, IsTheInstalledOneOrTheSourceTrees) {
  namespace fs = std::filesystem;
  fs::path prefix = fs::path(testing::TempDir()) / "kernelcast_prefix";
  fs::path installed = prefix / "share/kernelcast/devices", program = prefix / "bin/kernelcast";
  fs::remove_all(prefix);
  EXPECT_EQ(choose_device_folder("no/such/folder", program), "");
  EXPECT_EQ(choose_device_folder(data, program), data);
  EXPECT_EQ(choose_device_folder("no/such/folder", ""), "");
  fs::create_directories(installed);
  EXPECT_EQ(choose_device_folder("no/such/folder", program), installed);
  EXPECT_EQ(choose_device_folder(data, program), installed);
  fs::remove_all(prefix);
}

TEST(DeviceKey, DropsWhatPeopleSpellDifferently) {
  EXPECT_EQ(device_key("NVIDIA GeForce(R) RTX(TM) 3080"), "nvidiageforcertx3080");
  EXPECT_EQ(device_key("Intel(R) Core(TM) i7-4710MQ", Spelling::without_line), "i74710mq");
  EXPECT_EQ(device_key("AMD Radeon PRO W7800", Spelling::without_line), "w7800");
  EXPECT_EQ(device_key("NVIDIA TITAN V", Spelling::without_line), "titanv");
  EXPECT_EQ(device_key("NVIDIA Tesla T4", Spelling::without_maker), "teslat4");
  EXPECT_EQ(device_key("Intel(R) Core(TM) i7-4710MQ CPU @ 2.50GHz", Spelling::without_line), "i74710mq");
  EXPECT_EQ(device_key("NVIDIA GeForce RTX 3060 Ti", Spelling::number), "3060ti");
  EXPECT_EQ(device_key("nvidia", Spelling::without_line), "nvidia");
  EXPECT_EQ(device_key("(2020)", Spelling::without_line), "2020");
}

TEST(DeviceCapability, IsTheDevicesOwnWhereAnotherTargetStandsIn) {
  const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  EXPECT_EQ(capability_of(catalog.find("b200")), "sm_100");
  EXPECT_EQ(capability_of(catalog.find("v100")), "sm_70");
  EXPECT_EQ(capability_of(catalog.find("mi100")), "");
}

}  // namespace
}  // namespace kernelcast
