// The assembly text: what it means, that it survives a round trip, and the line that an error names.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernelcast/error.h"
#include "kernelcast/sm.h"

namespace {

using namespace kernelcast::sm;

std::string message(const std::string& text) {
  try {
    assemble(text, "t.sm");
  } catch (const kernelcast::UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Assemble, ReadsRegistersControlCodesLoopsAndAccesses) {
  const Program p = assemble(
      ".access chain step=128 span=0x10000 lane=0 bytes=8\n"
      "loop 3  # thrice\n"
      "  repeat 2\n"
      "    FFMA R4, R0, RZ, R4 {0x20}\n"
      "  end\n"
      "  LDG R6, R6, [chain] {stall=2 wr=1 wait=0x3}\n"
      "end\n",
      "t.sm");
  ASSERT_EQ(p.instructions.size(), 4u);
  EXPECT_EQ(p.instructions[0].op, Op::ffma);
  EXPECT_EQ(p.instructions[0].sources, (std::array<std::int16_t, 3>{0, -1, 4}));
  EXPECT_EQ(p.instructions[1].control, 0x20u);
  EXPECT_EQ(p.instructions[1].line, 4);
  EXPECT_EQ(p.accesses.at(0).step, 128);
  EXPECT_EQ(p.accesses.at(0).bytes, 8);
  EXPECT_EQ(p.instructions[3].op, Op::branch);
  EXPECT_EQ(p.instructions[3].target, 0);
  EXPECT_EQ(p.instructions[3].trips, 3);
  EXPECT_EQ(p.registers, 7);
}

TEST(Assemble, ErrorsNameTheLine) {
  EXPECT_EQ(message("FFMA R1, R2\nFFMX R1\n"), "t.sm:2: there is no instruction FFMX; did you mean FFMA?");
  EXPECT_EQ(message("FADD R256, R0\n"), "t.sm:1: expected a register R0 to R255 or RZ, not \"R256\"");
  EXPECT_EQ(message("FADD R1, R2, R3, R4\n"), "t.sm:1: FADD has at most 2 source registers");
  EXPECT_EQ(message("\nloop 2\nNOP\n"), "t.sm:2: loop has no end");
  EXPECT_EQ(message("NOP\nend\n"), "t.sm:2: end without loop, repeat or skip");
  EXPECT_EQ(message("LDG R1, R2\n"), "t.sm:1: LDG needs an access in brackets, such as [data]");
  EXPECT_EQ(message("LDG R1, [x]\n"), "t.sm:1: there is no .access x");
  EXPECT_EQ(message("loop 0\n"), "t.sm:1: loop needs a count from 1 to 1000000, not \"0\"");
  EXPECT_EQ(message("loop 2.x\n"), "t.sm:1: loop needs a count from 1 to 1000000, not \"2.x\"");
  EXPECT_EQ(message("repeat 1.5\n"), "t.sm:1: repeat needs a count from 1 to 1000000, not \"1.5\"");
  EXPECT_EQ(message("skip 1.5\n"), "t.sm:1: skip needs a share from 0 to 1, not \"1.5\"");
  EXPECT_EQ(message("skip 0.5\nend\n"), "t.sm:2: skip of nothing");
  EXPECT_EQ(message("NOP {stall=16}\n"), "t.sm:1: control code: stall goes from 0 to 15");
  EXPECT_EQ(message("# nothing\n"), "t.sm:1: there is no instruction");
}

RC_GTEST_PROP(Assemble, RoundTripOfGeneratedText, ()) {
  const int lines = *rc::gen::inRange(1, 12);
  std::string text = ".access a step=64 span=4096" + std::string(lines % 2 == 0 ? "" : " lanes=3") + "\n";
  for (int i = 0; i < lines; ++i) {
    const int reg = *rc::gen::inRange(0, 256);
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        text += "FFMA R" + std::to_string(reg) + ", R1, R2, R3 {" + std::to_string(*rc::gen::inRange(0, 256)) + "}\n";
        break;
      case 1:
        text += "loop 2\nCLK\nFMUL R1, R" + std::to_string(reg) + "\nend\n";
        break;
      case 3:
        text += "skip 0.125\nloop 3.7\nFADD R2, R" + std::to_string(reg) + "\nend\nend\n";
        break;
      case 2:
        text += "STG R" + std::to_string(reg) + ", R1, [a]\n";
        break;
      default:
        text += "BAR\n";
    }
  }
  const Program once = assemble(text, "p"), twice = assemble(disassemble(once), "p");
  RC_ASSERT(once.instructions.size() == twice.instructions.size());
  for (std::size_t i = 0; i < once.instructions.size(); ++i) {
    RC_ASSERT(once.instructions[i].op == twice.instructions[i].op);
    RC_ASSERT(once.instructions[i].destination == twice.instructions[i].destination);
    RC_ASSERT(once.instructions[i].sources == twice.instructions[i].sources);
    RC_ASSERT(once.instructions[i].control == twice.instructions[i].control);
    RC_ASSERT(once.instructions[i].target == twice.instructions[i].target);
    RC_ASSERT(once.instructions[i].trips == twice.instructions[i].trips);
    RC_ASSERT(once.instructions[i].fraction == twice.instructions[i].fraction);
  }
  RC_ASSERT(once.accesses == twice.accesses);
}

}  // namespace
