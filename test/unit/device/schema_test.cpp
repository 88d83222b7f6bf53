// The committed schema is the one that the table of fields makes now.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kernelcast/device.h"

namespace kernelcast {
namespace {

TEST(DeviceSchema, TheCommittedFileIsUpToDate) {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/schema/device.schema.json");
  ASSERT_TRUE(in) << "schema/device.schema.json is missing; make it with the target device_schema";
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(text.str() == device_schema_json())
      << "schema/device.schema.json is out of date; build the target device_schema";
}

}  // namespace
}  // namespace kernelcast
