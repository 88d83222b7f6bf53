#include "io/text_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TextFile : public ::testing::Test {
 protected:
  TextFile() {
    std::string name = (fs::temp_directory_path() / "kernelcast-io-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~TextFile() override { fs::remove_all(folder_); }
  [[nodiscard]] fs::path at(const char* name) const { return folder_ / name; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  fs::path folder_;
};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(TextFile, WhatIsWrittenIsRead) {
  const std::string text = std::string("a\0b\r\n", 5) + std::string(200000, 'x');
  write_text_file(at("f"), text);
  EXPECT_EQ(read_text_file(at("f")), text);
  write_text_file(at("f"), "");
  EXPECT_EQ(read_text_file(at("f")), "");
  EXPECT_EQ(files(), 1U);  // no temporary file stays
}

TEST_F(TextFile, ReadErrorsNameThePathAndTheReason) {
  EXPECT_THAT(error_of([&] { read_text_file(at("none")); }), AllOf(HasSubstr("/none: no such file")));
  EXPECT_THAT(error_of([&] { read_text_file(folder_); }),
              AllOf(HasSubstr(folder_.string()), HasSubstr("is a directory")));
  write_text_file(at("f"), "x");
  EXPECT_THAT(error_of([&] { read_text_file(at("f") / "below"); }), HasSubstr("cannot be opened: Not a directory"));
}

TEST_F(TextFile, WhatCannotBeWrittenIsKnownBefore) {
  check_writable(at("f"));
  EXPECT_EQ(files(), 0U);  // nothing is tried
  EXPECT_THAT(error_of([&] { check_writable(at("none") / "f"); }), HasSubstr("none/f: cannot be written"));
  EXPECT_THAT(error_of([&] { check_writable(folder_); }), HasSubstr("is a directory"));
  check_writable("/dev/null");
}

TEST_F(TextFile, TheLimitIsExact) {
  write_text_file(at("f"), std::string(1000, 'x'));
  EXPECT_EQ(read_text_file(at("f"), 1000).size(), 1000U);
  EXPECT_THAT(error_of([&] { read_text_file(at("f"), 999); }), AllOf(HasSubstr("larger than 999 B")));
}

TEST_F(TextFile, AnEndlessFileStopsAtTheLimit) {
  EXPECT_THAT(error_of([&] { read_text_file("/dev/zero", 1 << 20U); }), HasSubstr("/dev/zero: larger than 1.05 MB"));
}

// Root may read everything: the test then acts as nobody for a moment.
class AsNobody {
 public:
  AsNobody() : user_(::geteuid()) {
    if (user_ == 0) bound_ = ::seteuid(65534) == 0;
  }
  ~AsNobody() {
    if (user_ == 0 && bound_ && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  [[nodiscard]] bool bound() const { return bound_; }

 private:
  uid_t user_;
  bool bound_ = true;
};

TEST_F(TextFile, UnreadableAndReadOnlyFilesAreRefused) {
  write_text_file(at("f"), "old");
  fs::permissions(at("f"), fs::perms::none);
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  {
    const AsNobody nobody;
    ASSERT_TRUE(nobody.bound());
    EXPECT_THAT(error_of([&] { read_text_file(at("f")); }), HasSubstr("/f: cannot be opened: Permission denied"));
    EXPECT_THAT(error_of([&] { write_text_file(at("f"), "new"); }),
                HasSubstr("/f: cannot be written: Permission denied"));
  }
  fs::permissions(at("f"), fs::perms::owner_read);
  EXPECT_EQ(read_text_file(at("f")), "old");
}

TEST_F(TextFile, ReadsStandardInput) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  std::thread writer([&] {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(::write(ends[1], "part ", 5), 5);
    ::close(ends[1]);
  });
  EXPECT_EQ(read_text_file("-"), "part part part ");
  writer.join();
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

TEST_F(TextFile, WriteErrorsLeaveNothingBehind) {
  EXPECT_THAT(error_of([&] { write_text_file(at("no") / "f", "x"); }), HasSubstr("cannot be written: No such file"));
  EXPECT_THAT(error_of([&] { write_text_file(folder_, "x"); }), HasSubstr("is a directory"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(TextFile, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_THAT(error_of([] { write_text_file("/dev/full", "x"); }), HasSubstr("No space left"));
}

TEST_F(TextFile, ReplacingKeepsPermissionsAndLinks) {
  write_text_file(at("f"), "old");
  fs::permissions(at("f"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::owner_exec);
  fs::create_symlink("f", at("link"));
  write_text_file(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_text_file(at("f")), "new");
  EXPECT_EQ(fs::status(at("f")).permissions(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::owner_exec);
}

// A reader that has the old file open keeps all of it: the new one is another file.
TEST_F(TextFile, AReaderSeesOldOrNewNeverHalf) {
  write_text_file(at("f"), "old contents");
  std::ifstream reader(at("f"));
  write_text_file(at("f"), "new");
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old contents");
}

}  // namespace
}  // namespace kernelcast
