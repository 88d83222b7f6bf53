#include "io/within.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

TEST(Within, LinksAndDotsAreResolved) {
  const fs::path root = fs::temp_directory_path() / ("kernelcast-within-" + std::to_string(::getpid()));
  fs::create_directories(root / "in" / "sub");
  fs::create_directories(root / "inside");
  std::ofstream(root / "out.h") << "x";
  fs::create_symlink(root / "out.h", root / "in" / "link.h");
  fs::create_directory_symlink(root / "in", root / "other");
  const std::vector<std::string> in{(root / "in").string()};
  EXPECT_TRUE(lies_within(root / "in", in));
  EXPECT_TRUE(lies_within(root / "in" / "sub" / "none.h", in));
  EXPECT_TRUE(lies_within(root / "other" / "sub", in));
  EXPECT_TRUE(lies_within(root / "in" / "sub", {(root / "in").string() + "/"}));
  EXPECT_TRUE(lies_within(root / "out.h", {(root / "none").string(), root.string()}));
  EXPECT_FALSE(lies_within(root / "inside", in));
  EXPECT_FALSE(lies_within(root / "in" / ".." / "out.h", in));
  EXPECT_FALSE(lies_within(root / "in" / "link.h", in));
  EXPECT_FALSE(lies_within(root, in));
  EXPECT_FALSE(lies_within(root / "in", {}));
  fs::remove_all(root);
}

}  // namespace
}  // namespace kernelcast
