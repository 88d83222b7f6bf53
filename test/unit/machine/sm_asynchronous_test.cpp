// Copies and matrix products that run beside the warps: cycles that can be counted by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernelcast/error.h"
#include "kernelcast/sm.h"

namespace sm_asynchronous_test {
namespace {

using namespace kernelcast::sm;
using kernelcast::TensorType;
using kernelcast::UserError;
using ::testing::HasSubstr;

/// Four schedulers, a tensor pipe of 256 multiply-adds a cycle each, memory that takes no time but latency.
Spec plain() {
  Spec s;
  s.id = s.name = "plain";
  s.units = {{"cores", {Op::fadd, Op::ffma}, 1, 1},
             {"memory", {Op::load_global, Op::load_shared, Op::copy_async}, 1, 1},
             {"tensor", {Op::matrix, Op::matrix_async}, 1, 1}};
  s.latency[static_cast<std::size_t>(Op::ffma)] = 4;
  s.latency[static_cast<std::size_t>(Op::fadd)] = 4;
  s.latency[static_cast<std::size_t>(Op::matrix)] = 24;
  s.tensor_fma.fill(0);
  s.tensor_fma[static_cast<std::size_t>(TensorType::f16_f32)] = 1024;
  s.tensor_fma[static_cast<std::size_t>(TensorType::f8_f32)] = 2048;
  s.tensor_fma[static_cast<std::size_t>(TensorType::b1_s32)] = std::numeric_limits<double>::quiet_NaN();
  s.shared_latency = 20;
  s.l1_latency = 30;
  s.l2_latency = 200;
  s.dram_latency = 400;
  s.l2_bytes_per_cycle = s.dram_bytes_per_cycle = 1e6;
  return s;
}

Result run(const Spec& spec, const std::string& text, int warps = 1, int blocks = 1) {
  SmLaunch launch;
  launch.warps_per_block = warps;
  launch.blocks = blocks;
  return simulate(spec, assemble(text, "t"), launch);
}

std::uint64_t between(const Result& r, std::size_t warp = 0) {
  return r.clocks.at(warp).at(1) - r.clocks.at(warp).at(0);
}

const std::string product = ".product p type=f16_f32 fma=2048\n";

TEST(Matrix, APipeTakesWhatTheRateOfTheTypeSays) {
  // 2048 multiply-adds at 256 a cycle: eight cycles each.
  EXPECT_EQ(between(run(plain(), product + "CLK\nrepeat 10\nMMA R8, R0, R1, R2, [p]\nend\nCLK\n")), 1u + 9 * 8 + 1);
  const std::string eight = ".product p type=f8_f32 fma=2048\n";
  EXPECT_EQ(between(run(plain(), eight + "CLK\nrepeat 10\nMMA R8, R0, R1, R2, [p]\nend\nCLK\n")), 1u + 9 * 4 + 1);
}

TEST(Matrix, PartsOfACycleAddUp) {
  Spec s = plain();
  s.tensor_warp_share = 0.8;  // 2048 / 204.8: ten cycles; 1024: five; 512: two and a half
  const auto cycles = [&](const char* fma) {
    return between(run(s, std::string(".product p type=f16_f32 fma=") + fma +
                              "\nCLK\nrepeat 41\nMMA R8, R0, R1, R2, [p]\nend\nCLK\n"));
  };
  EXPECT_EQ(cycles("2048"), 402u);
  EXPECT_EQ(cycles("512"), 102u);
}

TEST(Matrix, AChainWaitsForTheResultAndAnAccumulatorOfALongProductForItsPipe) {
  EXPECT_EQ(between(run(plain(), product + "CLK\nrepeat 10\nMMA R8, R0, R1, R8, [p]\nend\nCLK\n")), 1u + 9 * 24 + 1);
  const std::string longer = ".product p type=f16_f32 fma=8192\n";
  EXPECT_EQ(between(run(plain(), longer + "CLK\nrepeat 10\nMMA R8, R0, R1, R8, [p]\nend\nCLK\n")), 1u + 9 * 32 + 1);
}

TEST(Matrix, FourPipesWorkAtATime) {
  const std::string text = product + "loop 100\nMMA R8, R0, R1, R2, [p]\nMMA R9, R0, R1, R2, [p]\nend\n";
  const auto one = static_cast<double>(run(plain(), text, 1).cycles);
  EXPECT_NEAR(static_cast<double>(run(plain(), text, 4).cycles), one, 0.02 * one);
  EXPECT_NEAR(static_cast<double>(run(plain(), text, 8).cycles), 2 * one, 0.05 * one);
}

TEST(Matrix, WhatTheGpuDoesNotHaveIsRefused) {
  const auto refused = [](const std::string& text, const std::string& why) {
    try {
      static_cast<void>(run(plain(), text));
      FAIL() << text;
    } catch (const UserError& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  };
  refused(".product p type=tf32_f32 fma=1024\nMMA R8, R0, R1, R8, [p]\n", "t:2: plain has no tf32_f32 products");
  refused(".product p type=b1_s32 fma=1024\nMMA R8, R0, R1, R8, [p]\n", "is not known");
  refused(".role 1\nFADD R4, R0\n.role 3\nFADD R4, R0\n", "the roles are of 4 warps, a block has 1");
  refused(".mbarrier full\nMBWAIT [full]\n", "no warp can go on");
}

TEST(AsynchronousProducts, DoNotStopTheWarpUntilItWaits) {
  // Ten products of eight cycles queue; the clock goes on at once, and the wait takes until the last one is done.
  const std::string issue = product + "CLK\nrepeat 10\nGMMA RZ, [p]\nend\nGMMACOMMIT\n";
  EXPECT_EQ(between(run(plain(), issue + "CLK\n")), 12u);
  EXPECT_EQ(between(run(plain(), issue + "GMMAWAIT 0\nCLK\n")), 1u + 9 * 8 + 24 + 1);
  EXPECT_EQ(between(run(plain(), issue + "GMMAWAIT 1\nCLK\n")), 13u);
}

TEST(AsynchronousProducts, OperandsOfSharedMemoryTakeItsBandwidth) {
  // 1024 bytes a scheduler at its quarter of 128 bytes a cycle: 32 cycles, four times what the pipe takes.
  const std::string text = ".product p type=f16_f32 fma=2048 shared=1024\nCLK\nrepeat 10\nGMMA [p]\nend\n" +
                           std::string("GMMACOMMIT\nGMMAWAIT 0\nCLK\n");
  EXPECT_NEAR(static_cast<double>(between(run(plain(), text))), 320, 16);
}

TEST(AsynchronousProducts, OneOfTheWholeSmTakesAllPipes) {
  const std::string text =
      ".product p type=f16_f32 fma=65536 whole=1\nrepeat 10\nGMMA [p]\nend\nGMMACOMMIT\nGMMAWAIT 0\n";
  const Result r = run(plain(), text);
  EXPECT_NEAR(static_cast<double>(r.cycles), 640, 30);
  EXPECT_NEAR(static_cast<double>(r.unit_busy[2]), 4 * 640, 1);
}

const std::string data = ".access a\n.access b base=4096\n";

TEST(Copies, StopNobodyUntilTheirGroupIsWaitedFor) {
  const std::string copies = data + "CLK\nLDGSTS R0, [a]\nCPCOMMIT\nLDGSTS R0, [b]\nCPCOMMIT\n";
  // A wavefront of shared memory takes the scheduler's lanes for four cycles, so the second copy comes four later.
  EXPECT_EQ(between(run(plain(), copies + "CLK\n")), 7u);
  EXPECT_EQ(between(run(plain(), copies + "CPWAIT 2\nCLK\n")), 8u);
  EXPECT_NEAR(static_cast<double>(between(run(plain(), copies + "CPWAIT 1\nCLK\n"))), 1 + 400 + 1, 1);
  EXPECT_NEAR(static_cast<double>(between(run(plain(), copies + "CPWAIT 0\nCLK\n"))), 5 + 400 + 1, 1);
}

/// A loop of a copy of 400 cycles and a product of 256, with a copy in flight for each stage: with two stages the copy
/// is hidden in part, with three in whole.
TEST(Copies, StagesHideThem) {
  const auto each = [](int stages) {
    std::string text = ".access a step=128 span=1048576\n.product p type=f16_f32 fma=65536\n";
    for (int s = 1; s < stages; ++s) text += "LDGSTS R0, [a]\nCPCOMMIT\n";
    text += "loop 50\nLDGSTS R0, [a]\nCPCOMMIT\nCPWAIT " + std::to_string(stages - 1) +
            "\nMMA R8, R0, R1, R8, [p]\nMOV R9, R8\nend\n";
    return static_cast<double>(run(plain(), text).cycles) / 50;
  };
  EXPECT_NEAR(each(1), 400 + 256, 20);
  EXPECT_NEAR(each(2), (400 + 256) / 2., 20);
  EXPECT_NEAR(each(3), 256, 20);
}

TEST(Copies, ThoseInBulkArriveAtAnMbarrier) {
  const std::string text =
      ".access a bytes=16\n.mbarrier full\nCLK\nUBLKCP [a], [full]\nARRIVE [full]\nMBWAIT [full]\nCLK\n";
  // 512 bytes: latency of DRAM, and four cycles of shared memory.
  EXPECT_NEAR(static_cast<double>(between(run(plain(), text))), 400 + 4 + 2, 2);
}

/// One warp copies, four multiply: a ring of stages between them.
TEST(Roles, AProducerFeedsConsumersThroughARing) {
  const auto each = [](int stages) {
    const std::string text =
        ".access a step=512 span=1048576 bytes=16\n.product p type=f16_f32 fma=65536\n"
        ".mbarrier full\n.mbarrier empty arrivals=4 ahead=" +
        std::to_string(stages) +
        "\n.role 1\nloop 50\nMBWAIT [empty]\nUBLKCP [a], [full]\nARRIVE [full]\nend\n"
        ".role 4\nloop 50\nMBWAIT [full]\nGMMA [p]\nGMMACOMMIT\nGMMAWAIT 0\nARRIVE [empty]\nend\n";
    return static_cast<double>(run(plain(), text, 5).cycles) / 50;
  };
  EXPECT_NEAR(each(1), 400 + 256, 40);
  EXPECT_NEAR(each(2), (400 + 256) / 2., 30);
  EXPECT_NEAR(each(4), 256, 30);
}

TEST(Roles, BarriersJoinTheWarpsOfARole) {
  const std::string text = ".role 1\nrepeat 50\nFADD R0, R0, R1\nend\nCLK\n.role 3\nBAR\nCLK\n";
  const Result r = run(plain(), text, 4);
  EXPECT_GT(r.clocks[0][0], 190u);
  for (std::size_t w = 1; w < 4; ++w) EXPECT_LT(r.clocks[w][0], 10u);
}

TEST(Roles, TheTextOfAProgramGivesTheProgram) {
  const std::string text =
      ".access a0 base=0 warp=0 step=0 span=0 lane=4 bytes=4\n.product p0 type=f16_f32 fma=2048 shared=512.5\n"
      ".product p1 type=f8_f32 fma=65536 whole=1\n.mbarrier b0 arrivals=1 ahead=0\n.role 1\nloop 3\n"
      "UBLKCP [a0], [b0]\nARRIVE [b0]\nend\n.role 4\nloop 3\nMBWAIT [b0]\nGMMA R1, [p0]\nGMMA [p1]\n"
      "GMMACOMMIT\nGMMAWAIT 1\nMMA R8, R0, R1, R8, [p0]\nLDGSTS R0, [a0]\nCPCOMMIT\nCPWAIT 2\nend\n";
  EXPECT_EQ(disassemble(assemble(text, "t")), text);
}

TEST(AssembleAsynchronous, ErrorsNameTheLine) {
  const auto refused = [](const std::string& text, const std::string& why) {
    try {
      static_cast<void>(assemble(text, "t"));
      FAIL() << text;
    } catch (const UserError& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  };
  refused(".product p type=f16_f33 fma=1\n", "t:1: .product p: there is no type f16_f33");
  refused(".product p type=f16_f32\n", "needs fma=");
  refused(".product p fma=-1\n", "fma needs a number from 0");
  refused(".mbarrier b arrivals=0\n", "arrivals goes from 1 to 4096");
  refused(".access a\n.product a fma=1\n", "t:2: there is an access, product or mbarrier a already");
  refused("MMA R8, R0, R1, R8\n", "MMA needs a .product in brackets");
  refused("ARRIVE\n", "ARRIVE needs a .mbarrier in brackets");
  refused("CPWAIT many\n", "CPWAIT needs a number of groups");
  refused("FADD R0, R1\n.role 1\n", "t:2: the first .role stands before all instructions");
  refused(".role 1\n.role 1\n", "the role above has no instruction");
  refused(".role 0\n", ".role needs a number of warps");
  refused(".access a\nMMA R8, R0, [a]\n", "there is no .product a");
}

}  // namespace
}  // namespace sm_asynchronous_test
