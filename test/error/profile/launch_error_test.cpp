// What is wrong with a launch, and what the message tells the user to change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

using testing::HasSubstr;

KernelProfile matmul() {
  KernelProfile p;
  p.kernel = "matmul";
  p.files = {"matmul.cl"};
  p.parameters = {{.name = "width", .type = "int", .integer = true, .used = true, .bytes = 4},
                  {.name = "alpha", .type = "float", .bytes = 4},
                  {.name = "out", .type = "float*", .pointer = true, .bytes = 4}};
  Loop loop;
  loop.counter = Symbol("k");
  loop.trips = argument("width");
  loop.line = {0, 12};
  p.loops.push_back(loop);
  Block b;
  b.loop = 0;
  p.blocks.push_back(b);
  p.unknowns.push_back({Unknown::Kind::probability, "branch:20", {0, 20}, 0.5, false, ""});
  return p;
}

Launch good() {
  Launch l;
  l.args["width"] = std::int64_t{8};
  return l;
}

std::string message(const KernelProfile& p, const Launch& l) {
  try {
    (void)Binder(p, {}).bind(l);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(LaunchErrors, AGoodLaunchIsFine) { EXPECT_EQ(message(matmul(), good()), "no error"); }

TEST(LaunchErrors, MissingArgument) {
  EXPECT_EQ(message(matmul(), {}),
            "the value of parameter \"width\" decides loop trip counts (matmul.cl:12): give arg width=VALUE");
}

TEST(LaunchErrors, AnArgumentThatItsTypeCannotHold) {
  KernelProfile p = matmul();
  Launch l = good();
  l.args["width"] = std::int64_t{2147483647};
  EXPECT_EQ(message(p, l), "no error");
  l.args["width"] = std::int64_t{2147483648};
  EXPECT_EQ(message(p, l),
            "--arg width=2147483648: parameter \"width\" of type int of kernel matmul holds -2147483648 to 2147483647: "
            "give a value in this range");
  for (const auto& [type, bytes, inside, outside] :
       {std::tuple{"unsigned int", 4, std::int64_t{4294967295}, std::int64_t{-1}},
        {"uchar", 1, 255, 256},
        {"short", 2, -32768, 32768},
        {"bool", 1, 1, 2},
        {"i32", 4, 4294967295, 4294967296},
        {"unsigned long", 8, 1, -1}}) {
    p.parameters[0].type = type;
    p.parameters[0].bytes = bytes;
    Binder binder(p, {});
    l.args["width"] = inside;
    EXPECT_NO_THROW((void)binder.bind(l)) << type;
    l.args["width"] = outside;
    EXPECT_THROW((void)binder.bind(l), ArgumentError) << type;  // also where names were seen before
  }
}

TEST(LaunchErrors, FloatArgumentsNeedNotBeGivenButMay) {
  Launch l = good();
  l.args["alpha"] = 1.5;
  EXPECT_EQ(message(matmul(), l), "no error");
}

TEST(LaunchErrors, MisspeltArgument) {
  Launch l = good();
  l.args["widht"] = std::int64_t{8};
  EXPECT_THAT(message(matmul(), l), HasSubstr("no parameter \"widht\" (arg); did you mean \"width\""));
}

TEST(LaunchErrors, FloatingValueForAnInteger) {
  Launch l = good();
  l.args["width"] = 8.5;
  EXPECT_THAT(message(matmul(), l), HasSubstr("\"width\" of kernel matmul is an integer, not 8.5"));
}

TEST(LaunchErrors, FloatingValueAfterAGoodLaunch) {
  const KernelProfile p = matmul();
  Binder b(p, {});
  Workload w;
  b.bind(good(), w);
  Launch l = good();
  l.args["width"] = 8.5;
  EXPECT_THROW(b.bind(l, w), UserError);
  b.bind(good(), w);
  EXPECT_EQ(w.block_counts[0].lanes, 8);
}

TEST(LaunchErrors, PointerGivenAsArgument) {
  Launch l = good();
  l.args["out"] = std::int64_t{8};
  EXPECT_THAT(message(matmul(), l), HasSubstr("is a pointer: give buffer out=COUNT"));
}

TEST(LaunchErrors, UnknownOrNegativeBuffer) {
  Launch l = good();
  l.buffers["ouT2"] = {4, ""};
  EXPECT_THAT(message(matmul(), l), HasSubstr("no pointer parameter or array \"ouT2\" (buffer); did you mean \"out\""));
  l = good();
  l.buffers["out"] = {-4, ""};
  EXPECT_THAT(message(matmul(), l), HasSubstr("buffer out=-4"));
}

TEST(LaunchErrors, SizesThatAreNotPositive) {
  Launch l = good();
  l.grid = {0, 1, 1};
  EXPECT_THAT(message(matmul(), l), HasSubstr("the grid 0,1,1 has a size that is not positive: change grid"));
  l = good();
  l.block = {32, -2, 1};
  EXPECT_THAT(message(matmul(), l), HasSubstr("the block 32,-2,1 has a size that is not positive: change block"));
  l = good();
  l.dynamic_shared_bytes = -1;
  EXPECT_THAT(message(matmul(), l), HasSubstr("shared"));
}

TEST(LaunchErrors, SizesBeyondReason) {
  Launch l = good();
  l.block = {1 << 20, 1 << 20, 1 << 30};
  EXPECT_THAT(message(matmul(), l), HasSubstr("larger than 65536: change block"));
  l = good();
  l.grid = {std::int64_t{1} << 62, 1 << 20, 1};
  EXPECT_THAT(message(matmul(), l), HasSubstr("change grid"));
}

TEST(LaunchErrors, RequiredBlock) {
  KernelProfile p = matmul();
  p.required_block = {16, 16, 1};
  EXPECT_THAT(message(p, good()),
              HasSubstr("requires blocks of 16,16,1 (reqd_work_group_size), not 1,1,1: give block 16,16,1"));
}

TEST(LaunchErrors, LaunchBounds) {
  KernelProfile p = matmul();
  p.max_threads_per_block = 128;
  Launch l = good();
  l.block = {129, 1, 1};
  EXPECT_THAT(message(p, l), HasSubstr("at most 128 threads a block (__launch_bounds__)"));
}

TEST(LaunchErrors, AssumptionsThatDoNotFit) {
  Launch l = good();
  l.assume["branch:21"] = 0.5;
  EXPECT_THAT(message(matmul(), l), HasSubstr("assume branch:21"));
  l = good();
  l.assume["branch:20"] = 1.5;
  EXPECT_THAT(message(matmul(), l), HasSubstr("a probability from 0 to 1"));
  l = good();
  l.assume["l2_hit"] = 1.5;  // not about the profile: somebody else's
  EXPECT_EQ(message(matmul(), l), "no error");
}

TEST(LaunchErrors, IndicesBeyond64Bits) {
  KernelProfile p = matmul();
  p.parameters[0].type = "long";
  p.parameters[0].bytes = 8;
  Access a;
  a.offset = Expr(argument("width")) * Expr(group_id(0)) * 1024;
  p.blocks[0].accesses.push_back(a);
  p.blocks[0].loop = -1;
  Launch l = good();
  l.grid = {1 << 30, 1, 1};
  l.args["width"] = std::int64_t{1} << 40;
  EXPECT_THROW((void)Binder(p, {}).bind(l), ArithmeticError);
}

}  // namespace
}  // namespace kernelcast
