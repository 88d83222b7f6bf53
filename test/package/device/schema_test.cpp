// The JSON Schema and the device files agree in the eyes of another implementation (python3-jsonschema, tomllib).
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <array>
#include <cstdio>
#include <string>

namespace {

TEST(DeviceSchema, EveryDeviceFileIsValid) {
  const std::string root = KERNELCAST_SOURCE_DIR;
  std::FILE* pipe = popen(("python3 '" + root + "/test/package/device/validate.py' '" + root + "' 2>&1").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 4096> buffer{};
  while (std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), n);
  int status = pclose(pipe);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) GTEST_SKIP() << output;
  EXPECT_EQ(WEXITSTATUS(status), 0) << output;
}

}  // namespace
