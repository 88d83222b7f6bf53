// The rules of ptx_predication.cpp on hand-made PTX: which block an instruction is scheduled and counted with.
#include "frontend/code/nvidia/ptx_predication.h"

#include <gtest/gtest.h>

#include "frontend/code/nvidia/ptx_fusion.h"
#include "frontend/code/nvidia/ptx_text.h"

namespace kernelcast::frontend {
namespace {

struct Outcome {
  int meetings = 0;                  // points of reconvergence
  int branches = 0;                  // conditional ones that are left
  std::vector<int> counted, blocks;  // instructions by block, as counted and as scheduled
};

std::string repeated(const char* what, int times) {
  std::string s;
  for (int i = 0; i < times; ++i) s += what;
  return s;
}

// Verbose assembly marks the block behind a branch.
std::string marked(std::string body) {
  for (std::size_t at = body.find("bra L"); at != std::string::npos; at = body.find("bra L", at + 1))
    body.insert(body.find('\n', at) + 1, "// %bb.1:\n");
  return body;
}

// %f1 to %f4 are loaded, so each thread has its own; %r1 is a parameter; %f1 and %f2 are stored at the end.
std::string entry(const std::string& body) {
  return ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n"
         "ld.param.u64 %rd1, [a];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmul.wide.s32 %rd2, %r2, 4;\n"
         "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\nld.global.f32 %f2, [%rd3+4096];\n"
         "ld.global.f32 %f3, [%rd3+8192];\nld.global.f32 %f4, [%rd3+16384];\nsetp.gt.s32 %p9, %r1, 5;\n"
         "setp.gt.f32 %p1, %f2, %f4;\n" +
         marked(body) + "st.global.f32 [%rd3], %f1;\nst.global.f32 [%rd3+4096], %f2;\nret;\n}\n";
}

Outcome outcome(const std::string& body) {
  const std::string text = entry(body);
  const PtxKernel kernel = parse_ptx(text, "k");
  const PtxPredication p = predicate_short_paths(kernel.code, ptx_costs(kernel.code, 75, nullptr), 75);
  Outcome o;
  o.counted.resize(kernel.code.blocks.size());
  o.blocks.resize(kernel.code.blocks.size());
  for (const AsmInstruction& i : p.scheduled.code.instructions) {
    o.branches += i.opcode.starts_with("bra") && !i.guard.empty() ? 1 : 0;
    ++o.blocks[static_cast<std::size_t>(i.block)];
  }
  for (const AsmInstruction& i : p.counted.code.instructions)
    if (i.opcode == "reconverge")
      ++o.meetings;
    else
      ++o.counted[static_cast<std::size_t>(i.block)];
  EXPECT_EQ(p.counted.code.instructions.size(), kernel.code.instructions.size() + static_cast<std::size_t>(o.meetings));
  EXPECT_EQ(p.scheduled.code.instructions.size(), p.scheduled.costs.size());
  return o;
}

const char* const add = "add.f32 %f1, %f1, %f3;\n";

std::string around(const std::string& path, const char* condition = "%p1") {
  return std::string("@") + condition + " bra L1;\n" + path + "L1:\n";
}

TEST(PtxPredication, ShortPathsLoseTheirBranch) {
  const Outcome o = outcome(around(repeated(add, 8)));
  EXPECT_EQ(o.branches, 0);
  EXPECT_EQ(o.counted[1], 0);  // all of the path counts with the block before it
  EXPECT_EQ(o.blocks[1] + o.blocks[2], 0);
}

TEST(PtxPredication, LanesThatAreOffDoNothing) {
  const std::string text = entry(around(repeated(add, 3)));
  const PtxKernel kernel = parse_ptx(text, "k");
  const PtxPredication p = predicate_short_paths(kernel.code, ptx_costs(kernel.code, 75, nullptr), 75);
  int elsewhere = 0;
  for (std::size_t i = 0; i < kernel.code.instructions.size(); ++i) {
    const AsmInstruction& counted = p.counted.code.instructions[i];
    if (counted.lanes_of < 0) continue;
    ++elsewhere;
    EXPECT_EQ(counted.lanes_of, kernel.code.instructions[i].block);
    EXPECT_EQ(counted.block, 0);
  }
  EXPECT_EQ(elsewhere, 3);
}

TEST(PtxPredication, LongPathsKeepIt) {
  const Outcome o = outcome(around(repeated(add, 9)));
  EXPECT_EQ(o.branches, 1);
  EXPECT_EQ(o.counted[1], 9);
  EXPECT_EQ(o.meetings, 1);
}

TEST(PtxPredication, PathsWithLoadsMayBeLonger) {
  const std::string load = "ld.global.f32 %f5, [%rd3+65536];\nadd.f32 %f1, %f1, %f5;\n";
  const Outcome o = outcome(around(load + repeated(add, 18)));
  EXPECT_EQ(o.branches, 0);
  EXPECT_EQ(o.counted[1], 1);  // the load runs for the lanes that are on
  EXPECT_EQ(outcome(around(load + repeated(add, 19))).branches, 1);
}

TEST(PtxPredication, InlineAssemblyIsLikeOtherCode) {
  EXPECT_EQ(
      outcome(
          around(std::string("// begin inline asm\nld.global.nc.f32 %f20, [%rd3+131072];\n// end inline asm\n") + add))
          .branches,
      0);
}

TEST(PtxPredication, ConditionsOfTheWholeBlockAllowLess) {
  EXPECT_EQ(outcome(around(repeated(add, 6), "%p9")).branches, 0);
  EXPECT_EQ(outcome(around(repeated(add, 7), "%p9")).branches, 1);
}

TEST(PtxPredication, TwoPathsThatMeet) {
  const auto both = [](int a, int b) {
    return outcome("@%p1 bra L1;\n" + repeated(add, a) + "bra.uni L2;\nL1:\n" +
                   repeated("mul.f32 %f1, %f1, %f3;\n", b) + "L2:\n");
  };
  EXPECT_EQ(both(7, 8).branches, 0);
  EXPECT_EQ(both(8, 1).branches, 1);
  EXPECT_EQ(both(1, 9).branches, 1);
}

TEST(PtxPredication, TwoConditionsForOnePath) {
  const std::string between = "mul.f32 %f5, %f1, %f3;\nadd.f32 %f5, %f5, %f4;\nsetp.gt.f32 %p2, %f5, %f4;\n";
  const std::string longer =
      "mul.f32 %f5, %f1, %f3;\n" + repeated("add.f32 %f5, %f5, %f4;\n", 5) + "setp.gt.f32 %p2, %f5, %f4;\n";
  const std::string again = "@%p2 bra L1;\n";
  EXPECT_EQ(outcome(around(between + again + repeated(add, 8))).branches, 0);
  EXPECT_EQ(outcome(around(between + again + repeated(add, 9))).branches, 1);
  EXPECT_EQ(outcome(around(longer + again + add)).branches, 1);  // the inner one goes
  EXPECT_EQ(outcome(around(add + again + add)).branches, 1);     // %f1 of the first path is needed behind
  EXPECT_EQ(outcome(around("ld.global.f32 %f5, [%rd3+65536];\nsetp.gt.f32 %p2, %f5, %f4;\n" + again + add)).branches,
            1);
}

TEST(PtxPredication, PredicatedPathsAreNotPredicatedAgain) {
  const Outcome o = outcome(
      around(std::string("setp.gt.f32 %p2, %f3, %f4;\n@%p2 bra L2;\n") + add + "L2:\nmul.f32 %f1, %f1, %f4;\n"));
  EXPECT_EQ(o.branches, 1);
}

TEST(PtxPredication, WhatCannotBePredicated) {
  for (const char* what :
       {"atom.global.add.f32 %f1, [%rd3], %f3;\n", "red.global.add.f32 [%rd3], %f3;\n", "bar.sync 0;\n", "membar.gl;\n",
        "shfl.sync.idx.b32 %f1, %f1, 1, 31, -1;\n", "div.rn.f32 %f1, %f1, %f3;\n", "sqrt.rn.f32 %f1, %f1;\n"})
    EXPECT_EQ(outcome(around(what)).branches, 1) << what;
  EXPECT_EQ(outcome(around("rcp.approx.ftz.f32 %f1, %f1;\n")).branches, 0);
  EXPECT_EQ(outcome(around("st.shared.f32 [s], %f1;\n")).branches, 0);
}

TEST(PtxPredication, GuardsOfTheWholeKernelStay) {
  const Outcome o =
      outcome(std::string("@%p1 bra L1;\n") + add + "st.global.f32 [%rd3], %f1;\nbra.uni L1;\nL1:\nret;\nL9:\n");
  EXPECT_EQ(o.branches, 1);  // EXIT under a predicate
  EXPECT_EQ(o.meetings, 0);
}

TEST(PtxPredication, LoopsAndReturnsStay) {
  EXPECT_EQ(outcome(std::string("L1:\n") + add + "setp.gt.f32 %p1, %f1, %f4;\n@%p1 bra L1;\n").branches, 1);
  EXPECT_EQ(outcome("@%p1 bra L1;\nbra.uni L2;\nL1:\nret;\nL2:\n").branches, 1);
}

TEST(PtxPredication, ThreadsThatLeaveAndUniformBranchesDoNotMeet) {
  EXPECT_EQ(outcome("@%p1 bra L1;\nbra.uni L2;\nL1:\nret;\nL2:\n").meetings, 0);
  EXPECT_EQ(outcome(around(repeated(add, 9), "%p9")).meetings, 0);
  EXPECT_EQ(outcome(std::string("L1:\n") + add + "setp.gt.f32 %p1, %f1, %f4;\n@%p1 bra L1;\n").meetings, 1);
}

TEST(Reconvergence, PostDominators) {
  // 0 -> 1 or 4; 1 -> 2 or 3; 2, 3 -> 4; 4 -> 5 or 6; 5 ends; 6 -> 7 or 6; 7 ends
  const std::vector<std::vector<int>> next = {{1, 4}, {2, 3}, {4}, {4}, {5, 6}, {}, {7, 6}, {}};
  const std::vector<bool> all(next.size(), true);
  EXPECT_EQ(reconvergence_points(next, all), (std::vector<ReconvergencePoint>{{4, 0}, {7, 6}}));
  std::vector<bool> only(next.size(), false);
  only[4] = true;  // its ways meet at the end only
  EXPECT_TRUE(reconvergence_points(next, only).empty());
  EXPECT_TRUE(reconvergence_points({{1}, {0}}, {true, true}).empty());  // no way out
}

TEST(PtxPredication, NothingIsCountedTwiceOrLost) {
  for (int n = 0; n < 12; ++n) {
    const std::string body = around(repeated(add, n));
    const PtxKernel kernel = [&] {
      static std::string text;
      text = entry(body);
      return parse_ptx(text, "k");
    }();
    const std::vector<OpCounts> costs = ptx_costs(kernel.code, 75, nullptr);
    OpCounts before, after, scheduled;
    for (const OpCounts& c : costs) before += c;
    const PtxPredication p = predicate_short_paths(kernel.code, costs, 75);
    for (const OpCounts& c : p.counted.costs) after += c;
    for (const OpCounts& c : p.scheduled.costs) scheduled += c;
    if (n <= 8) after[OpClass::control] += 1;  // the branch that is gone
    if (n <= 8) scheduled[OpClass::control] += 1;
    if (n > 8) after[OpClass::control] -= 3;  // BMOV, BSSY, BSYNC
    EXPECT_EQ(before, after) << n;
    EXPECT_EQ(before, scheduled) << n;
  }
}

}  // namespace
}  // namespace kernelcast::frontend
