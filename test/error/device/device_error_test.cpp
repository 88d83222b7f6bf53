// Each *.toml here is wrong in one way. Its line "# expect: TEXT" is the message without the folder: "FILE:LINE: ...";
// a star at the end stands for words of the TOML library.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "kernelcast/device.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;
const fs::path folder = KERNELCAST_SOURCE_DIR "/test/error/device";

std::vector<std::string> bad_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".toml" && entry.path().stem() != "sources") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::string expected_message(const fs::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("# expect: ")) return line.substr(10);
  return "no line \"# expect: \" in " + file.string();
}

std::string without_folder(std::string text) {
  for (std::size_t at; (at = text.find(folder.string() + "/")) != std::string::npos;)
    text.erase(at, folder.string().size() + 1);
  return text;
}

class BadDevice : public testing::TestWithParam<std::string> {};
TEST_P(BadDevice, GetsItsMessage) {
  fs::path file = folder / (GetParam() + ".toml");
  try {
    (void)load_device(file.string());
    FAIL() << "was accepted";
  } catch (const UserError& e) {
    std::string expected = expected_message(file), message = without_folder(e.what());
    if (expected.ends_with('*')) {
      expected.pop_back();
      message.resize(std::min(message.size(), expected.size()));
    }
    EXPECT_EQ(message, expected);
  }
}
INSTANTIATE_TEST_SUITE_P(Files, BadDevice, testing::ValuesIn(bad_files()), [](const auto& param) {
  std::string name = param.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

TEST(BadDevice, AFileThatIsNotThere) { EXPECT_THROW((void)load_device((folder / "nothing.toml").string()), UserError); }

TEST(BadDevice, RandomBytesAreAnErrorAndNoCrash) {
  std::mt19937 random(1);
  fs::path file = fs::path(testing::TempDir()) / "kernelcast-random-bytes.toml";
  for (int round = 0; round < 200; ++round) {
    std::string bytes(std::size_t{1} << (round % 12), '\0');
    for (char& c : bytes) c = static_cast<char>(random() & (round % 2 == 0 ? 0xff : 0x7f));
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_THROW((void)load_device(file.string()), UserError);
  }
  fs::remove(file);
}

TEST(BadDevice, DeepNestingIsAnErrorAndNoCrash) {
  fs::path file = fs::path(testing::TempDir()) / "kernelcast-deep.toml";
  std::string key = "a";
  for (int i = 0; i < 1900; ++i) key += ".a";
  std::string longer = key;
  for (int i = 0; i < 8; ++i) longer += longer;
  std::string nested = key + " = [\n";
  for (int i = 0; i < 300; ++i) nested += "{" + key + " = [\n";
  for (const std::string& text :
       {"[" + key + "]\n" + key + " = 1\n", longer + " = 1\n", nested, std::string(1 << 20, '['),
        "a = " + std::string(3000, '['), std::string(1 << 22, 'a')}) {
    std::ofstream(file, std::ios::binary) << text;
    EXPECT_THROW((void)load_device(file.string()), UserError);
  }
  fs::remove(file);
}

TEST(BadDevice, DamagedFilesLoadOrSayWhy) {
  // One byte of a good file changed: whatever happens, it is a device or a UserError that names the file.
  std::ifstream in(KERNELCAST_SOURCE_DIR "/test/unit/device/data/amd-radeon-hd-7970.toml", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  std::string good = text.str();
  ASSERT_GT(good.size(), 100u);
  std::mt19937 random(2);
  fs::path file = fs::path(testing::TempDir()) / "amd-radeon-hd-7970.toml";
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random() & 0x7f);
    std::ofstream(file, std::ios::binary) << bad;
    try {
      (void)load_device(file.string());
    } catch (const UserError& e) {
      EXPECT_EQ(std::string(e.what()).rfind(file.string() + ":", 0), 0u) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
  fs::remove(file);
}

}  // namespace
}  // namespace kernelcast
