// The vocabulary of profiles.
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "kernelcast/workload.h"

namespace kernelcast {
namespace {

TEST(Symbols, HaveTheAgreedNames) {
  EXPECT_EQ(local_id(0).name(), "lid.x");
  EXPECT_EQ(group_id(1).name(), "wg.y");
  EXPECT_EQ(local_size(2).name(), "lsz.z");
  EXPECT_EQ(num_groups(0).name(), "nwg.x");
  EXPECT_EQ(argument("n").name(), "arg:n");
  EXPECT_EQ(dynamic_shared().name(), "dynamic_shared");
  EXPECT_THROW(local_id(3), InternalError);
}

TEST(Names, OfSpacesAndKinds) {
  EXPECT_EQ(name_of(MemorySpace::texture), "texture");
  EXPECT_EQ(name_of(MemorySpace::local), "local");
  EXPECT_EQ(name_of(AccessKind::atomic), "atomic");
}

TEST(Guard, AlwaysMeansOneUnconditionalPath) {
  EXPECT_TRUE(Guard{}.always());
  EXPECT_FALSE(Guard{{}}.always());
  EXPECT_FALSE((Guard{{Path{0, {}}}}.always()));
  EXPECT_FALSE((Guard{{Path{Expr(local_id(0)), {}}}}.always()));
  EXPECT_FALSE((Guard{{Path{1, {{0, true}}}}}.always()));
  EXPECT_FALSE((Guard{{Path{}, Path{}}}.always()));
}

TEST(AccessCount, Adds) {
  AccessCount a{1, 2, 3, 4, 5, 6, 7};
  a += AccessCount{10, 20, 30, 40, 50, 60, 70};
  EXPECT_EQ(a, (AccessCount{11, 22, 33, 44, 55, 66, 77}));
}

}  // namespace
}  // namespace kernelcast
