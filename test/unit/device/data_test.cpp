// Every file of devices/: it loads, every number has a source, and no name belongs to two devices.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "device/device_rules.h"
#include "device/field_table.h"
#include "device/name_key.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;
const std::string folder = KERNELCAST_SOURCE_DIR "/devices";

/// Every spelling that two devices claim, with both ids.
std::vector<std::string> names_of_two(const std::vector<DeviceHead>& heads) {
  std::map<std::string, std::string> owner;
  std::vector<std::string> clashes;
  for (const DeviceHead& head : heads) {
    std::vector<std::string> names = head.aliases;
    names.push_back(head.id);
    names.push_back(head.name);
    for (const std::string& name : names) {
      auto [entry, is_new] = owner.emplace(device_key(name), head.id);
      if (!is_new && entry->second != head.id) clashes.push_back(name + ": " + entry->second + " and " + head.id);
    }
  }
  return clashes;
}

TEST(DeviceFiles, AllLoadAndEveryNumberHasASource) {
  std::vector<std::string> ids = DeviceCatalog(folder).ids();
  ASSERT_FALSE(ids.empty());
  for (const std::string& id : ids) {
    SCOPED_TRACE(id);
    try {
      Device d = DeviceCatalog(folder).find(id);
      EXPECT_FALSE(d.vendor.empty()) << "vendor";
      EXPECT_FALSE(d.architecture.empty()) << "architecture";
      for (std::size_t i = 0; i < field_count; ++i)
        EXPECT_FALSE(d.values[i].value && d.values[i].source.empty()) << full_name(static_cast<Field>(i));
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(DeviceFiles, NoNameBelongsToTwoDevices) {
  for (const std::string& clash : names_of_two(DeviceCatalog(folder).heads())) ADD_FAILURE() << clash;
}

TEST(DeviceFiles, TheCheckForSharedNamesFindsThem) {
  DeviceHead a{.id = "a-one", .name = "A One", .kind = "gpu", .file = "", .aliases = {"Card 7"}, .trouble = ""};
  DeviceHead b{.id = "b-two", .name = "B Two", .kind = "gpu", .file = "", .aliases = {"card-7"}, .trouble = ""};
  EXPECT_EQ(names_of_two({a, b}), std::vector<std::string>{"card-7: a-one and b-two"});
  b.aliases = {"card 8"};
  EXPECT_TRUE(names_of_two({a, b}).empty());
}

TEST(DeviceFiles, EveryNameAndAliasFindsItsDevice) {
  DeviceCatalog catalog(folder);
  for (const DeviceHead& head : catalog.heads()) {
    std::vector<std::string> names = head.aliases;
    names.push_back(head.name);
    for (const std::string& name : names) {
      try {
        EXPECT_EQ(catalog.find(name).id, head.id) << name;
      } catch (const Error& e) {
        ADD_FAILURE() << name << ": " << e.what();
      }
    }
  }
}

TEST(DeviceFiles, EveryArchitectureIsInheritedByADevice) {
  std::map<std::string, int> uses;
  DeviceCatalog catalog(folder);
  for (const std::string& id : catalog.ids()) {
    try {
      for (const FieldValue& v : catalog.find(id).values) ++uses[v.origin];
    } catch (const Error&) {
      // reported by the test above
    }
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / "arch", ignored))
    EXPECT_GT(uses[entry.path().string()], 0) << entry.path() << " gives no number to any device";
}

Device with(std::initializer_list<std::pair<Field, double>> values) {
  Device d;
  d.kind = "gpu";
  for (auto [f, v] : values) d.values[static_cast<std::size_t>(f)] = {v, "test", "test"};
  return d;
}

TEST(Contradictions, OnlyWhereBothNumbersAreKnown) {
  EXPECT_FALSE(find_contradiction(Device()));
  EXPECT_FALSE(find_contradiction(with({{Field::clock_base_clock_hz, 2e9}})));
  EXPECT_FALSE(find_contradiction(with({{Field::clock_base_clock_hz, 1e9}, {Field::clock_boost_clock_hz, 1e9}})));
  EXPECT_TRUE(find_contradiction(with({{Field::clock_base_clock_hz, 2e9}, {Field::clock_boost_clock_hz, 1e9}})));
  EXPECT_TRUE(find_contradiction(
      with({{Field::limits_max_threads_per_block, 1024}, {Field::limits_max_threads_per_unit, 512}})));
  EXPECT_TRUE(find_contradiction(with({{Field::compute_warp_size, 32},
                                       {Field::limits_max_warps_per_unit, 32},
                                       {Field::limits_max_threads_per_unit, 1025}})));
}

}  // namespace
}  // namespace kernelcast
