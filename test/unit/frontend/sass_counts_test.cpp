// Which PTX instruction a machine instruction counts for, on code made by hand.
#include "frontend/code/nvidia/sass_counts.h"

#include <gtest/gtest.h>

#include "frontend/code/nvidia/ptx_text.h"

namespace kernelcast::frontend::sass_counts_test {
namespace {

// Blocks: 0 entry, 1 a guarded path, 2 a loop, 3 the end.
constexpr std::string_view text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<9>;
	.reg .pred %p<3>;
	.loc 1 5 1
	mov.u32 %r1, %tid.x;
	setp.eq.s32 %p1, %r1, 0;
	@%p1 bra $L__BB0_2;
// %bb.1:                               // %path
	add.s32 %r2, %r1, 1;
	st.global.u32 [%rd1], %r2;
$L__BB0_2:
	ld.global.u32 %r3, [%rd2];
	add.s32 %r4, %r4, %r3;
	setp.ne.s32 %p2, %r4, 7;
	@%p2 bra $L__BB0_2;
$L__BB0_3:
	ret;
}
.file 1 "a.cu"
)";

constexpr std::uint64_t branches_always = 7ULL << 23U;
sass::Instruction plain(std::uint64_t bits, std::uint64_t guard = 7) {
  return {bits | guard << 12U | 0xffULL << 24U, branches_always | 7ULL << 46U | 1ULL << 41U};
}
sass::Instruction branch(int by, std::uint64_t guard = 0) {
  const auto distance = static_cast<std::uint64_t>(std::int64_t{by} * 16);
  return {0x947 | guard << 12U | distance << 32U,
          (distance >> 32U & 0x3ffff) | branches_always | 7ULL << 46U | 1ULL << 41U};
}
const sass::Instruction add = plain(0x210), compare = plain(0x20c), load = plain(0x381), move = plain(0x202),
                        leave = plain(0x94d);

TEST(SassCounts, MarksEveryInstruction) {
  const PtxKernel kernel = parse_ptx(text, "k");
  const MarkedPtx marked = marked_ptx(text, kernel.code);
  EXPECT_EQ(marked.file, 2);
  EXPECT_NE(marked.text.find(".loc 2 1 1\n\tmov.u32"), std::string::npos);
  EXPECT_NE(marked.text.find(".loc 2 3 1\n\t@%p1 bra"), std::string::npos);
  EXPECT_NE(marked.text.find(".loc 2 10 1\n\tret"), std::string::npos);
  EXPECT_NE(marked.text.find(".file 2 \"instructions\""), std::string::npos);
}

// The path is predicated: it counts for the entry, and its branch is gone. A move from the entry that the assembler put
// into the loop counts for the loop.
TEST(SassCounts, ABlockCountsForWhereMostOfItComesFrom) {
  const PtxKernel kernel = parse_ptx(text, "k");
  const std::vector<sass::Instruction> code{
      move, compare, plain(0x210, 0), plain(0x386, 0), plain(0x386, 0), load, add, compare, move, branch(-5), leave};
  const std::vector<int> lines{1, 2, 4, 5, 5, 6, 7, 8, 1, 9, 10};
  const SassCounts counts = count_sass(kernel.code, code, 80, lines);
  EXPECT_TRUE(counts.removed[2]);
  EXPECT_FALSE(counts.removed[8]);
  EXPECT_EQ(counts.costs[0][OpClass::move], 1);
  EXPECT_EQ(counts.costs[2][OpClass::global_store], 2);  // with the last of the entry's
  EXPECT_EQ(counts.costs[3], OpCounts{});
  EXPECT_EQ(counts.costs[5][OpClass::global_load], 1);
  EXPECT_EQ(counts.costs[8][OpClass::move], 1);
  EXPECT_EQ(counts.costs[9][OpClass::control], 1);
  EXPECT_TRUE(counts.unknown.empty());
}

// The loop four times in one block, with one branch, and once for what is left over.
TEST(SassCounts, CopiesOfAnUnrolledLoopAreParts) {
  const PtxKernel kernel = parse_ptx(text, "k");
  std::vector<sass::Instruction> code{move, compare, branch(10, 1)};
  std::vector<int> lines{1, 2, 3};
  for (int copy = 0; copy < 4; ++copy) {
    code.insert(code.end(), {load, add});
    lines.insert(lines.end(), {6, 7});
  }
  code.insert(code.end(), {compare, branch(-10)});
  lines.insert(lines.end(), {8, 9});
  code.insert(code.end(), {load, add, compare, branch(-4), leave});
  lines.insert(lines.end(), {6, 7, 8, 9, 10});
  const SassCounts counts = count_sass(kernel.code, code, 80, lines);
  EXPECT_DOUBLE_EQ(counts.costs[5][OpClass::global_load], 1);
  EXPECT_DOUBLE_EQ(counts.costs[6][OpClass::int_add], 1);
  EXPECT_DOUBLE_EQ(counts.costs[7][OpClass::compare], 0.25);
  EXPECT_DOUBLE_EQ(counts.costs[8][OpClass::control], 0.25);
}

// A load that sets barrier 2, an addition that waits for it, and four cycles behind a comparison.
TEST(SassCounts, StopsAreThoseOfTheControlBits) {
  const PtxKernel kernel = parse_ptx(text, "k");
  sass::Instruction first = sass::with(load, sass::write_barrier, 2), second = sass::with(add, sass::wait_mask, 4),
                    third = sass::with(compare, sass::stall, 4);
  const std::vector<sass::Instruction> code{move, compare, branch(0, 1), first, second, third, branch(-4), leave};
  const SassCounts counts = count_sass(kernel.code, code, 80, {1, 2, 3, 6, 7, 8, 9, 10});
  const Stalls& loop = counts.walk.stalls[2];
  EXPECT_DOUBLE_EQ(loop.waits[static_cast<std::size_t>(Latency::global)], 1);
  EXPECT_DOUBLE_EQ(loop.waits[static_cast<std::size_t>(Latency::alu)], 2);  // and behind the branch
  EXPECT_DOUBLE_EQ(loop.hidden[static_cast<std::size_t>(Latency::alu)], 1);
}

// There are six barriers. Seven says none; six only stands in damaged files.
TEST(SassCounts, ABarrierThatDoesNotExistIsNone) {
  const PtxKernel kernel = parse_ptx(text, "k");
  const auto waits_of = [&](std::uint32_t barrier) {
    const std::vector<sass::Instruction> code{move,
                                              compare,
                                              branch(0, 1),
                                              sass::with(load, sass::write_barrier, barrier),
                                              sass::with(add, sass::wait_mask, 0x3f),
                                              compare,
                                              branch(-4),
                                              leave};
    return count_sass(kernel.code, code, 80, {1, 2, 3, 6, 7, 8, 9, 10}).walk.stalls[2].waits;
  };
  EXPECT_EQ(waits_of(6), waits_of(7));
  EXPECT_NE(waits_of(5), waits_of(7));
}

TEST(SassCounts, WhatTheTableLacksIsNamed) {
  const PtxKernel kernel = parse_ptx(text, "k");
  const SassCounts counts = count_sass(kernel.code, std::vector{plain(0x1ff), leave}, 80, {1, 10});
  EXPECT_EQ(counts.unknown, (std::vector<std::string>{"511"}));
  EXPECT_EQ(counts.costs[0][OpClass::other], 1);
}

}  // namespace
}  // namespace kernelcast::frontend::sass_counts_test
