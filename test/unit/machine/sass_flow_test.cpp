// Blocks and classes of instructions made bit by bit.
#include "machine/sass/code.h"

#include <gtest/gtest.h>

namespace kernelcast::sass {
namespace {

constexpr std::uint64_t always = 7ULL << 12U, branches_always = 7ULL << 23U;

Instruction plain(std::uint64_t opcode_bits, std::uint64_t guard_bits = 7) {
  return {opcode_bits | guard_bits << 12U | 0xffULL << 24U, branches_always};
}

/// From instruction `at` to instruction `to`, under predicate `guard_bits`.
Instruction branch(std::size_t at, std::size_t to, std::uint64_t guard_bits = 7) {
  const auto distance =
      static_cast<std::uint64_t>((static_cast<std::int64_t>(to) - static_cast<std::int64_t>(at) - 1) * 16);
  return {0x947 | guard_bits << 12U | distance << 32U, (distance >> 32U & 0x3ffff) | branches_always};
}

const Instruction exit_here = plain(0x94d), add = plain(0x210), nop = plain(0x918);

TEST(Flow, ALoopAndWhatComesBehindIt) {
  const std::vector<Instruction> code{add, add, branch(2, 1, 0), add, exit_here, branch(5, 5), nop};
  const auto blocks = blocks_of(code, 80);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].end, 1U);
  EXPECT_EQ(blocks[1].first, 1U);
  EXPECT_EQ(blocks[1].successors, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(blocks[2].end, 5U);
  EXPECT_TRUE(blocks[2].successors.empty());
}

TEST(Flow, AGuardedExitGoesOn) {
  const std::vector<Instruction> code{plain(0x94d, 1), add, exit_here};
  const auto blocks = blocks_of(code, 80);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].successors, (std::vector<std::size_t>{1}));
}

TEST(Flow, ABranchOutsideTheCodeIsNone) {
  const std::vector<Instruction> code{branch(0, 100, 0), exit_here};
  const auto blocks = blocks_of(code, 80);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].successors, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(blocks_of({}, 80).empty());
}

TEST(Flow, ABranchToARegisterMayGoAnywhere) {
  const std::vector<Instruction> code{plain(0x949), branch(1, 3), exit_here, add, exit_here};
  EXPECT_EQ(blocks_of(code, 80).size(), 4U);
  EXPECT_EQ(blocks_of(code, 80)[0].successors.size(), 4U);
}

Instruction imad(std::uint64_t form, std::uint64_t a, std::uint64_t middle, std::uint64_t c, bool with_carry = false) {
  return {0x024 | form << 9U | always | a << 24U | middle << 32U, c | std::uint64_t{with_carry} << 10U};
}

TEST(Opcodes, MultiplicationsThatStandForSomethingElse) {
  EXPECT_EQ(class_of(imad(1, 3, 4, 5)), OpClass::int_mad);
  EXPECT_EQ(class_of(imad(1, 3, 4, 255)), OpClass::int_mul);
  EXPECT_EQ(class_of(imad(1, 255, 255, 5)), OpClass::move);
  EXPECT_EQ(class_of(imad(1, 255, 255, 5, true)), OpClass::int64_add);
  EXPECT_EQ(class_of(imad(4, 3, 1, 5)), OpClass::int_add);
  EXPECT_EQ(class_of(imad(4, 3, 4, 255)), OpClass::shift);
  EXPECT_EQ(class_of(imad(4, 3, 5, 255)), OpClass::int_mul);
  EXPECT_EQ(class_of(imad(3, 3, 0, 255)), OpClass::int_mad);  // the third operand is a constant
}

TEST(Opcodes, ModifiersThatChangeTheClass) {
  Instruction mufu = plain(0x308);
  EXPECT_EQ(class_of(mufu), OpClass::fp32_special);
  mufu.high |= 6ULL << 10U;
  EXPECT_EQ(class_of(mufu), OpClass::fp64_special);
  Instruction carried = add;
  carried.high |= 1ULL << 10U;
  EXPECT_EQ(class_of(add), OpClass::int_add);
  EXPECT_EQ(class_of(carried), OpClass::int64_add);
  EXPECT_EQ(class_of(nop), OpClass::count_);
  const Instruction nothing_known = plain(0x1ff);
  EXPECT_EQ(name_of(nothing_known), "");
  EXPECT_EQ(class_of(nothing_known), OpClass::other);
}

}  // namespace
}  // namespace kernelcast::sass
