// Cycles that can be counted by hand, on specs made for the purpose.
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "kernelcast/sm.h"

namespace {

using namespace kernelcast::sm;

/// One scheduler, one unit, no control codes, no banks, caches of instructions that always hit.
Spec plain() {
  Spec s;
  s.id = s.name = "plain";
  s.schedulers = 1;
  s.units = {{"cores", {Op::fadd, Op::fmul, Op::ffma}, 1, 1},
             {"memory", {Op::load_global, Op::load_shared, Op::store_global}, 1, 1}};
  s.latency[static_cast<std::size_t>(Op::ffma)] = 6;
  s.latency[static_cast<std::size_t>(Op::fmul)] = 6;
  s.latency[static_cast<std::size_t>(Op::fadd)] = 6;
  s.shared_latency = 20;
  s.l1_latency = 30;
  s.l2_latency = 100;
  s.dram_latency = 300;
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

TEST(Simulate, IndependentInstructionsIssueEachCycle) {
  EXPECT_EQ(between(run(plain(), "CLK\nrepeat 10\nFFMA R4, R0, R1\nend\nCLK\n")), 11u);
}

TEST(Simulate, AChainWaitsForEachResult) {
  // CLK, ten FFMA six cycles apart, and a CLK the cycle after the last.
  EXPECT_EQ(between(run(plain(), "CLK\nrepeat 10\nFFMA R0, R0, R1\nend\nCLK\n")), 1u + 9 * 6 + 1);
}

TEST(Simulate, AUnitOfTwoCyclesHalvesTheRate) {
  Spec s = plain();
  s.units[0].interval = 2;
  EXPECT_EQ(between(run(s, "CLK\nrepeat 10\nFFMA R4, R0, R1\nend\nCLK\n")), 1u + 9 * 2 + 1);
}

TEST(Simulate, EveryInstructionOfEveryWarpAndPassIsCounted) {
  EXPECT_EQ(run(plain(), "loop 5\nFFMA R4, R0, R1\nend\n", 3, 4).warp_instructions, 3u * 4 * 5 * 2);
}

TEST(Simulate, ConflictsOfABankTakeACycleEach) {
  Spec s = plain();
  s.bank_bits = {0};
  s.ports_per_bank = 1;
  EXPECT_EQ(between(run(s, "CLK\nrepeat 10\nFFMA R5, R0, R1\nend\nCLK\n")), 11u);
  EXPECT_EQ(between(run(s, "CLK\nrepeat 10\nFFMA R5, R0, R2\nend\nCLK\n")), 1u + 9 * 2 + 1);
  EXPECT_EQ(between(run(s, "CLK\nrepeat 10\nFFMA R5, R0, R2, R4\nend\nCLK\n")), 1u + 9 * 3 + 1);
  s.ports_per_bank = 2;
  EXPECT_EQ(between(run(s, "CLK\nrepeat 10\nFFMA R5, R0, R2\nend\nCLK\n")), 11u);
}

/// Cycles that collecting operands took beyond one an instruction.
std::uint64_t conflicts(const Spec& spec, const std::string& text) { return run(spec, text).bank_conflict_cycles; }

TEST(Simulate, ThePortOfABankKeepsWhatItReadLast) {
  Spec s = plain();
  s.bank_bits = {0};
  s.ports_per_bank = 1;
  s.operand_cache = OperandCache::last_read_per_bank;
  // R0 and R2 are of one bank: after the first instruction one of them is held.
  EXPECT_EQ(conflicts(s, "FFMA R5, R0, R2\n"), 1u);
  EXPECT_EQ(conflicts(s, "repeat 10\nFFMA R5, R0, R2\nend\n"), 1u);
  EXPECT_EQ(conflicts(s, "FFMA R5, R0, R1\nFFMA R5, R0, R2\n"), 0u);
}

TEST(Simulate, APairUsesWhatWasHeldBeforeIt) {
  Spec s = plain();
  s.bank_bits = {0, 1};
  s.ports_per_bank = 1;
  s.operand_cache = OperandCache::last_read_per_bank;
  s.dual = DualIssue::by_control_code;
  s.control = ControlKind::eight_bit;
  s.dual_code = 4;
  s.default_code = 0x20;
  s.control_ranges = {{0x20, 0x3f, 0x1f, 1, 1, 32, 32}};
  s.dispatch_per_turn = 2;
  s.units.push_back({"more cores", {Op::ffma}, 1, 1});
  // R4 is held; the pair reads R8 of the same bank first and R4 second (figure 7 of zhang-2017: R149 and R7). What the
  // first of a pair reads serves the second, too: R1.
  EXPECT_EQ(conflicts(s, "FFMA R3, R4, R1, R2 {0x20}\nFFMA R3, R8, R5, R6 {0x04}\nFFMA R7, R4, R5, R10 {0x20}\n"), 1u)
      << "R6 and R10 are of one bank";
  EXPECT_EQ(conflicts(s, "FFMA R3, R4, R1, R2 {0x20}\nFFMA R3, R8, R5, R6 {0x04}\nFFMA R7, R4, R5, R11 {0x20}\n"), 0u);
  EXPECT_EQ(conflicts(s, "FFMA R3, R0, R1, R2 {0x20}\nFFMA R3, R8, R5, R6 {0x04}\nFFMA R7, R4, R5, R11 {0x20}\n"), 1u)
      << "R4 is not held";
}

TEST(Simulate, AWarpInTheMiddleOfItsLineKeepsTheSchedulerWhileItWaitsForLanes) {
  // Two warps on cores of two cycles, private ones and some that are shared: with lines that end turns the first warp
  // issues all of its line before the second one has its turn.
  Spec s = plain();
  s.units = {{"cores", {Op::ffma}, 1, 2}, {"shared cores", {Op::ffma}, 1, 2}};
  s.turn_ends_with_line = true;
  const std::string text = "CLK\nrepeat 14\nFFMA R4, R0, R1\nend\nCLK\n";  // a line of 16 instructions
  const Result r = run(s, text, 2);
  EXPECT_GE(r.clocks.at(1).at(0), r.clocks.at(0).at(1));
}

TEST(Simulate, SharedMemoryConflictsAddPasses) {
  const auto load = [](int lane) {
    return ".access a lane=" + std::to_string(lane) + "\nCLK\nLDS R0, [a]\nFADD R1, R0\nCLK\n";
  };
  const std::uint64_t clean = between(run(plain(), load(4)));
  EXPECT_EQ(clean, 1u + 20 + 1);
  EXPECT_EQ(between(run(plain(), load(8))), clean + 1);
  EXPECT_EQ(between(run(plain(), load(128))), clean + 31);
  EXPECT_EQ(between(run(plain(), load(0))), clean);  // all lanes read one word
}

TEST(Simulate, LoadsTakeTheLatencyOfTheLevelThatHoldsThem) {
  Spec s = plain();
  s.l1_bytes = 16384;
  s.l2_bytes = 1 << 20;
  s.l2_bytes_per_cycle = s.dram_bytes_per_cycle = 1024;
  const std::string text = ".access a lane=0\nloop 2\nCLK\nLDG R0, [a]\nFADD R1, R0\nCLK\nend\n";
  const Result r = run(s, text);
  ASSERT_EQ(r.clocks[0].size(), 4u);
  EXPECT_EQ(r.clocks[0][1] - r.clocks[0][0], 1u + 300 + 1);
  EXPECT_EQ(r.clocks[0][3] - r.clocks[0][2], 1u + 30 + 1);
}

TEST(Simulate, TheFirstCacheServesBanksAndTags) {
  // Thirty-two loads of one warp that hit. By lines: one a cycle. By banks and tags: conflicts of 32 banks of 4 bytes,
  // or 1 + (lines - 1) / 4 where that is more.
  Spec s = plain();
  s.l1_bytes = 65536;
  s.l2_bytes_per_cycle = s.dram_bytes_per_cycle = 1e6;
  const auto cycles = [&](int step) {
    const Result r = run(s, ".access a lane=" + std::to_string(step) + "\nloop 2\nMOV R1, R0\nCLK\nrepeat 32\n" +
                                "LDG RZ, [a]\nend\nCLK\nend\n");
    return static_cast<double>(r.clocks.at(0).at(3) - r.clocks.at(0).at(2)) / 32;
  };
  EXPECT_NEAR(cycles(20), 5, 0.2);
  EXPECT_NEAR(cycles(128), 32, 1);
  s.l1.l1_banks = 32;
  s.l1.l1_tags = 4;
  EXPECT_NEAR(cycles(4), 1, 0.1);
  EXPECT_NEAR(cycles(20), 2, 0.1);  // five words: no conflict, five lines
  s.l1_bytes_per_cycle = 64;
  EXPECT_NEAR(cycles(4), 2, 0.1);  // 128 bytes go to registers
  s.l1_bytes_per_cycle = 0;
  EXPECT_NEAR(cycles(132), 9, 0.4);  // no conflict, 33 lines: 1 + 32 / 4
  EXPECT_NEAR(cycles(128), 32, 1);   // all lanes in one bank
}

TEST(Simulate, DramBandwidthLimitsAStream) {
  Spec s = plain();
  s.dram_bytes_per_cycle = 16;
  std::string text = ".access a warp=1048576 step=128 span=1048576\nloop 20\n";
  for (int i = 0; i < 10; ++i) text += "LDG R" + std::to_string(i) + ", [a]\n";  // ten under way in each warp
  const Result r = run(s, text + "end\n", 8);
  const double bytes = 8.0 * 200 * 128;
  EXPECT_NEAR(bytes / static_cast<double>(r.cycles), 16, 16 * 0.15);
}

TEST(Simulate, ABarrierHoldsWarpsTogether) {
  // Warps run one behind the other on one unit; behind the barrier their clocks lie within a cycle of each other's
  // turn.
  const Result r = run(plain(), "repeat 20\nFFMA R0, R0, R1\nend\nBAR\nCLK\n", 4);
  for (const auto& clocks : r.clocks) EXPECT_LE(clocks[0] - r.clocks[0][0] + 4, 8u);
}

TEST(Simulate, CodeWithoutInterlockThatStallsTooLittleIsAHazard) {
  Spec s = plain();
  s.control = ControlKind::twenty_one_bit;
  s.interlock = false;
  EXPECT_EQ(run(s, "FFMA R0, R0, R1 {stall=6}\nFFMA R0, R0, R1 {stall=6}\n").hazards, 0u);
  const Result r = run(s, "FFMA R0, R0, R1 {stall=5}\nFFMA R0, R0, R1 {stall=6}\n");
  EXPECT_EQ(r.hazards, 1u);
  EXPECT_EQ(r.first_hazard_line, 2);
}

TEST(Simulate, DualIssueByHardwareNeedsTwoUnits) {
  Spec s = plain();
  s.dual = DualIssue::by_hardware;
  s.dispatch_per_turn = 2;
  EXPECT_EQ(run(s, "FFMA R4, R0, R1\nFFMA R5, R0, R1\n").dual_issues, 0u);
  EXPECT_EQ(run(s, "FFMA R4, R0, R1\nNOP\n").dual_issues, 1u);
}

TEST(Simulate, ACodeForDualIssueOfOneUnitIssuesAlone) {
  Spec s = plain();
  s.control = ControlKind::twenty_one_bit;
  s.dual = DualIssue::by_control_code;
  s.dual_needs_other_unit = true;
  s.dispatch_per_turn = 2;
  const std::string text = "FFMA R4, R0, R1 {stall=0}\nFFMA R5, R0, R1 {stall=1}\n";
  const Result r = run(s, text);
  EXPECT_EQ(r.dual_issues, 0u);
  EXPECT_EQ(r.warp_instructions, 2u);
  EXPECT_EQ(run(s, "FFMA R4, R0, R1 {stall=0}\nNOP {stall=1}\n").dual_issues, 1u);
}

TEST(Simulate, ACodeForDualIssueOfOneSetOfLanesIssuesAlone) {
  Spec s = plain();
  s.control = ControlKind::twenty_one_bit;
  s.dual = DualIssue::by_control_code;
  s.dispatch_per_turn = 2;
  SmLaunch launch;
  launch.max_cycles = 1000;  // it must not wait for lanes that there are not
  const auto run = [&](const std::string& text) { return simulate(s, assemble(text, "t"), launch); };
  const Result alone = run("CLK {stall=1}\nFFMA R4, R0, R1 {stall=0}\nFFMA R5, R0, R1 {stall=1}\nCLK {stall=1}\n");
  EXPECT_EQ(alone.dual_issues, 0u);
  EXPECT_EQ(between(alone), 3u);
  s.units.push_back({"more cores", {Op::ffma}, 1, 1});
  EXPECT_EQ(run("FFMA R4, R0, R1 {stall=0}\nFFMA R5, R0, R1 {stall=1}\n").dual_issues, 1u);
}

TEST(Simulate, AnIntervalOfAnInstructionReplacesThatOfItsUnit) {
  Spec s = plain();
  s.interval[static_cast<std::size_t>(Op::fmul)] = 8;
  EXPECT_EQ(between(run(s, "CLK\nrepeat 10\nFMUL R4, R0, R1\nend\nCLK\n")), 1u + 9 * 8 + 1);
  EXPECT_EQ(between(run(s, "CLK\nrepeat 10\nFFMA R4, R0, R1\nend\nCLK\n")), 11u);
  EXPECT_EQ(between(run(s, "CLK\nFMUL R4, R0, R1\nFFMA R4, R0, R1\nCLK\n")), 1u + 8 + 1) << "the same lanes";
}

/// Two SIMDs that share a unit of one cycle, each with a turn every second one.
Spec alternating(bool alternate) {
  Spec s = plain();
  s.schedulers = 2;
  s.turn_cycles = 2;
  s.turns_alternate = alternate;
  s.warps_per_turn = 4;
  s.units = {{"vector", {Op::ffma}, 1, 2}, {"scalar", {Op::scalar}, 2, 1}};
  s.latency[static_cast<std::size_t>(Op::scalar)] = 2;
  return s;
}

TEST(Simulate, SchedulersThatAlternateShareAUnitOfOneCycle) {
  // Warps 0 and 1 are of different schedulers. In turn each finds the unit free; together one of them waits a turn each
  // time.
  const std::string text = "CLK\nrepeat 16\nSALU R4, R0, R1\nend\nCLK\n";
  const Result in_turn = run(alternating(true), text, 2);
  EXPECT_EQ(between(in_turn, 0), 2u * 17);
  EXPECT_EQ(between(in_turn, 1), 2u * 17);
  EXPECT_EQ((in_turn.clocks[1][0] - in_turn.clocks[0][0]) % 2, 1u);
  const Result together = run(alternating(false), text, 2);
  EXPECT_GT(between(together, 1), 2u * 17);
}

TEST(Simulate, ATurnServesWarpsThatGoToDifferentUnits) {
  // Two warps a scheduler, 16 vector instructions each: 32 turns of two cycles; 16 scalar ones each go beside them.
  const Spec s = alternating(true);
  const auto text = [](const std::string& body) { return "CLK\nrepeat 16\n" + body + "end\nCLK\n"; };
  const std::uint64_t vectors = between(run(s, text("FFMA R4, R0, R1\n"), 4));
  EXPECT_GE(vectors, 2u * 31);
  EXPECT_LE(between(run(s, text("FFMA R4, R0, R1\nSALU R5, R0, R1\n"), 4)), vectors + 2 * 4);
}

TEST(Simulate, AProgramLargerThanTheInstructionCacheMissesInEachPass) {
  Spec s = plain();
  s.icache_bytes = 1024;
  s.icache_miss_cycles = 50;
  const std::uint64_t fits = run(s, "loop 10\nrepeat 100\nNOP\nend\nend\n").icache_misses;
  const std::uint64_t larger = run(s, "loop 10\nrepeat 200\nNOP\nend\nend\n").icache_misses;
  EXPECT_EQ(fits, 7u);      // 101 instructions of 8 bytes in lines of 128
  EXPECT_EQ(larger, 130u);  // 13 lines, 8 of which fit: least-recently-used loses all of them
}

TEST(Simulate, RefusesWhatItCannotRun) {
  EXPECT_THROW(run(plain(), "DFMA R0, R0\n"), kernelcast::UserError);
  EXPECT_THROW(run(plain(), "NOP\n", 65), kernelcast::UserError);
  SmLaunch launch;
  launch.max_cycles = 10;
  EXPECT_THROW(simulate(plain(), assemble("loop 1000\nNOP\nend\n", "t"), launch), kernelcast::LimitError);
}

TEST(Simulate, ControlCodesFitTheArchitecture) {
  Spec s = plain();
  EXPECT_THROW(run(s, "FFMA R0, R0, R1 {0x20}\n"), kernelcast::UserError) << "it has none";
  s.control = ControlKind::eight_bit;
  EXPECT_NO_THROW(run(s, "FFMA R0, R0, R1 {0xff}\n"));
  EXPECT_THROW(run(s, "FFMA R0, R0, R1 {0x100}\n"), kernelcast::UserError);
  s.control = ControlKind::twenty_one_bit;
  EXPECT_NO_THROW(run(s, "FFMA R0, R0, R1 {0x1fffff}\n"));
  EXPECT_THROW(run(s, "FFMA R0, R0, R1 {0x7d1}\n"), kernelcast::UserError) << "there is no write barrier 6";
  EXPECT_THROW(run(s, "FFMA R0, R0, R1 {0x6f1}\n"), kernelcast::UserError) << "there is no read barrier 6";
}

TEST(Control, FieldsSurviveTheRoundTrip) {
  Spec s = plain();
  s.control = ControlKind::twenty_one_bit;
  for (std::uint32_t code = 0; code < (1U << 21); code += 37) {
    if ((code & 15U) == 0) continue;                                     // a stall of zero reads as one
    if (((code >> 5U) & 7U) == 6 || ((code >> 8U) & 7U) == 6) continue;  // there are six barriers
    EXPECT_EQ(encode_control(decode_control(s, code)), code);
  }
}

/// Instructions of `warps` warps of one block.
std::uint64_t executed(const std::string& text, int warps) { return run(plain(), text, warps).warp_instructions; }

TEST(Simulate, AFractionOfATripIsOneTripMoreInThatShareOfEntries) {
  // Of 8 entries two run three trips and six run two: 18 FFMA and as many branches, and 8 branches of the outer loop.
  EXPECT_EQ(executed("loop 8\nloop 2.25\nFFMA R4, R0, R1\nend\nend\n", 1), 18u * 2 + 8);
}

TEST(Simulate, ASkipPassesOverItsLinesInThatShareOfExecutions) {
  // Twelve of sixteen executions skip the FFMA; each has its own branch and that of the loop.
  EXPECT_EQ(executed("loop 16\nskip 0.75\nFFMA R4, R0, R1\nend\nend\n", 1), 16u * 2 + 4);
  // Executed once by each of 64 warps: one in four goes in, whichever they are.
  EXPECT_NEAR(static_cast<double>(executed("skip 0.75\nFFMA R4, R0, R1\nend\n", 64)), 64.0 + 16, 1);
  EXPECT_EQ(executed("skip 1\nFFMA R4, R0, R1\nend\n", 8), 8u);
  EXPECT_EQ(executed("skip 0\nFFMA R4, R0, R1\nend\n", 8), 16u);
}

TEST(Simulate, SharedMemoryIsOfTheWholeSm) {
  // One of four schedulers has a quarter of 128 bytes a cycle; its lanes take eight cycles an instruction.
  Spec s = plain();
  s.schedulers = 4;
  s.units[1].interval = 8;
  s.shared_bytes_per_cycle = 128;
  const std::string conflict = ".access a lane=16\nCLK\nrepeat 5\nLDS RZ, R0, [a]\nend\nCLK\n";
  const std::string none = ".access a lane=4\nCLK\nrepeat 5\nLDS RZ, R0, [a]\nend\nCLK\n";
  EXPECT_EQ(between(run(s, none)), 1u + 4 * 8 + 1);
  EXPECT_EQ(between(run(s, conflict)), 1u + 4 * 16 + 1);
}

/// Cycles of five atomic operations that wait for each other, `lanes` of a warp on one word.
std::uint64_t atomics(const std::string& op, int lanes, int own, int each) {
  Spec s = plain();
  s.units[1].ops = {Op::atomic_shared, Op::atomic_global};
  s.atomic_shared_latency = s.atomic_global_latency = own;
  s.atomic_shared_cycles = s.atomic_global_cycles = each;
  s.l2_bytes = 4096;
  // The second of two passes: the L2 has the word.
  const Result r = run(s, ".access a lane=0 lanes=" + std::to_string(lanes) + "\nloop 2\nMOV R1, R0\nCLK\nrepeat 5\n" +
                              op + " R0, R0, [a]\nend\nMOV R1, R0\nCLK\nend\n");
  return r.clocks.at(0).at(3) - r.clocks.at(0).at(2);
}

TEST(Simulate, AtomicOperationsOnAWordTakeTurns) {
  // CLK, five operations, each with the turns of the lanes before its last one, MOV and CLK.
  for (const char* op : {"ATOMS", "ATOM"}) {
    EXPECT_EQ(atomics(op, 1, 40, 3), 1u + 5 * 40 + 1) << op;
    EXPECT_EQ(atomics(op, 4, 40, 3), 1u + 5 * (40 + 3 * 3) + 1) << op;
    EXPECT_EQ(atomics(op, 32, 40, 3), 1u + 5 * (40 + 31 * 3) + 1) << op;
  }
}

TEST(Simulate, OnlyTheLanesOfAnAccessTakePart) {
  Spec s = plain();
  const auto passes = [&](const std::string& lanes) {
    return between(run(s, ".access a lane=128" + lanes + "\nCLK\nrepeat 2\nLDS R0, R0, [a]\nend\nMOV R1, R0\nCLK\n"));
  };
  EXPECT_EQ(passes(""), 1u + 2 * (20 + 31) + 1);
  EXPECT_EQ(passes(" lanes=8"), 1u + 2 * (20 + 7) + 1);
  EXPECT_EQ(passes(" lanes=1"), 1u + 2 * 20 + 1);
}

}  // namespace
