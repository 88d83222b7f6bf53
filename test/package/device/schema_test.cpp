// The JSON Schema and the device files agree in the eyes of another implementation (python3-jsonschema, tomllib).
#include <gtest/gtest.h>

#include "run.h"

namespace {

TEST(DeviceSchema, EveryDeviceFileIsValid) {
  const std::string root = KERNELCAST_SOURCE_DIR;
  const ProgramResult result = run_program("python3 '" + root + "/test/package/device/validate.py' '" + root + "'");
  if (result.status == 77 || result.status == 127) GTEST_SKIP() << result.output;
  EXPECT_EQ(result.status, 0) << result.output;
}

}  // namespace
