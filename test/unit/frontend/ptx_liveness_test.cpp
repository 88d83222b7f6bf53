#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "frontend/code/nvidia/ptx_registers.h"
#include "frontend/code/nvidia/ptx_text.h"
#include "machine/schedules.h"

namespace kernelcast::frontend {
namespace {

// The slow, obvious twin: r is live at the end of b when a walk from there meets a use before a certain definition.
bool live_by_walking(const FlowGraph& g, int b, int r, std::set<int>& seen) {
  for (int s : g.blocks[static_cast<std::size_t>(b)].successors) {
    if (!seen.insert(s).second) continue;
    bool ended = false;
    for (const FlowInstruction& i : g.blocks[static_cast<std::size_t>(s)].code) {
      if (std::count(i.uses.begin(), i.uses.end(), r)) return true;
      if (!i.may_skip && std::count(i.defs.begin(), i.defs.end(), r)) {
        ended = true;
        break;
      }
    }
    if (!ended && live_by_walking(g, s, r, seen)) return true;
  }
  return false;
}

TEST(Liveness, AgreesWithWalksOnRandomGraphs) {
  EXPECT_TRUE(rc::check([] {
    const int blocks = *rc::gen::inRange(1, 7), registers = *rc::gen::inRange(1, 80);
    FlowGraph g;
    g.weight.assign(static_cast<std::size_t>(registers), 1);
    g.blocks.resize(static_cast<std::size_t>(blocks));
    for (FlowBlock& b : g.blocks) {
      for (int n = *rc::gen::inRange(0, 3); n > 0; --n) b.successors.push_back(*rc::gen::inRange(0, blocks));
      for (int n = *rc::gen::inRange(0, 6); n > 0; --n)
        b.code.push_back(
            {{*rc::gen::inRange(0, registers)}, {*rc::gen::inRange(0, registers)}, *rc::gen::inRange(0, 4) == 0});
    }
    const LiveSets live = live_out(g);
    for (int b = 0; b < blocks; ++b)
      for (int r = 0; r < registers; ++r) {
        std::set<int> seen;
        const bool bit = (live[static_cast<std::size_t>(b)][static_cast<std::size_t>(r) / 64] >> (r % 64) & 1) != 0;
        RC_ASSERT(bit == live_by_walking(g, b, r, seen));
      }
  }));
}

TEST(Liveness, PressureCountsWeightsAndUnreadResults) {
  FlowGraph g;
  g.weight = {1, 2, 1, 4};
  g.blocks.resize(1);
  g.blocks[0].code = {{{}, {0}, false}, {{}, {1}, false}, {{0, 1}, {2}, false}, {{2}, {3}, false}};
  EXPECT_EQ(max_pressure(g, live_out(g), 0), 4) << "the last result alone weighs 4";
  g.weight[3] = 0;
  EXPECT_EQ(max_pressure(g, live_out(g), 0), 3) << "registers 0 and 1 together";
}

PtxPressure pressure(const std::string& body) {
  const std::string text = ".visible .entry k(\n)\n{\n" + body + "\nret;\n}\n";
  return ptx_pressure(parse_ptx(text, "k").code, 80, 249);
}

TEST(PtxPressure, ParametersAndConstantsNeedNoRegister) {
  EXPECT_EQ(pressure("ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, 5;\n"
                     "st.global.u32 [%rd2], %r1;")
                .in_order,
            0);
}

TEST(PtxPressure, OffsetsNeedNoRegister) {
  const auto pressure = [](const std::string& sums) {
    const std::string text = ".visible .entry k(\n)\n{\nmov.u64 %rd1, %clock64;\n" + sums +
                             "ld.global.nc.f32 %f1, [%rd2];\nld.global.nc.f32 %f2, [%rd3];\n"
                             "st.global.f32 [%rd1], %f1;\nst.global.f32 [%rd1+4], %f2;\nret;\n}\n";
    return ptx_pressure(parse_ptx(text, "k").code, 80, 249).in_order;
  };
  EXPECT_EQ(pressure("add.s64 %rd2, %rd1, 16;\nadd.s64 %rd3, %rd1, 32;\n"), 4);
  EXPECT_GT(pressure("add.s64 %rd2, %rd1, %rd9;\nadd.s64 %rd3, %rd1, %rd9;\n"), 4);
}

TEST(PtxPressure, TheUpperHalfOfAnUnsignedWideningIsTheZeroRegister) {
  const auto of = [](const std::string& widening) {
    return pressure("ld.global.u32 %r1, [%rd9];\n" + widening + " %rd1, %r1;\nst.global.u64 [%rd9], %rd1;").in_order;
  };
  EXPECT_EQ(of("cvt.s64.s32"), of("cvt.u64.u32") + 1);
}

TEST(PtxPressure, WhatIsBelowTwoToThe32HasNoUpperHalf) {
  const auto of = [](const std::string& code) {
    return pressure("ld.global.u64 %rd2, [%rd9];\n" + code +
                    "\nst.global.u64 [%rd9], %rd1;\nst.global.u64 [%rd9+8], %rd2;")
        .in_order;
  };
  const int whole = of("shl.b64 %rd1, %rd2, 1;");
  for (const char* small :
       {"and.b64 %rd1, %rd2, 96;", "shr.u64 %rd1, %rd2, 32;", "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 128;",
        "mov.u32 %r1, %tid.x;\ncvt.s64.s32 %rd3, %r1;\nadd.s64 %rd1, %rd3, 4;",
        "and.b64 %rd3, %rd2, 7;\nshl.b64 %rd1, %rd3, 3;"})
    EXPECT_EQ(of(small), whole - 1) << small;
  for (const char* large :
       {"mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd1, %r1, 128;", "and.b64 %rd1, %rd2, -4;", "add.s64 %rd1, %rd2, 4;",
        "shr.s64 %rd1, %rd2, 32;", "mov.u32 %r1, %tid.x;\ncvt.s64.s32 %rd3, %r1;\nsub.s64 %rd1, %rd3, 4;",
        "and.b64 %rd3, %rd2, 7;\nneg.s64 %rd1, %rd3;"})
    EXPECT_EQ(of(large), whole) << large;
}

TEST(PtxPressure, ACounterWithoutABoundKeepsItsUpperHalf) {
  const auto of = [](const std::string& step) {
    return pressure("mov.u64 %rd1, 0;\n$L1:\n" + step + "setp.ne.s64 %p1, %rd1, %rd9;\n@%p1 bra $L1;").in_order;
  };
  EXPECT_EQ(of("add.s64 %rd1, %rd1, 1;\n"), of("mov.u64 %rd1, 5;\n") + 1);
}

TEST(PtxPressure, TwoHalvesOfOneRegisterNeedOne) {
  const std::string loads = "ld.global.u16 %rs1, [%rd9];\nld.global.u16 %rs2, [%rd9+2];\n";
  const int apart = pressure(loads + "st.global.u16 [%rd9], %rs1;\nst.global.u16 [%rd9+2], %rs2;").in_order;
  EXPECT_EQ(pressure(loads + "mov.b32 %r1, {%rs1, %rs2};\nst.global.u32 [%rd9], %r1;").in_order, apart - 1);
}

TEST(PtxRegisters, LoadsMoveUpWithinAStepAndLittleMoreIsSqueezedIntoOne) {
  // `sums` values that live through a loop with four loads a passage.
  const auto registers = [](int sums) {
    std::string text = ".visible .entry k(\n)\n{\nld.global.u32 %r9, [%rd9];\n", adds, stores;
    for (int k = 10; k < 10 + sums; ++k) {
      const std::string f = "%f" + std::to_string(k);
      text += "ld.global.f32 " + f + ", [%rd9+" + std::to_string(4 * k) + "];\n";
      adds += "add.f32 " + f + ", " + f + ", %f" + std::to_string(1 + k % 4) + ";\n";
      stores += "st.global.f32 [%rd9+" + std::to_string(4 * k) + "], " + f + ";\n";
    }
    text += "$L1:\n";
    for (int k = 1; k < 5; ++k)
      text += "ld.global.f32 %f" + std::to_string(k) + ", [%rd9+" + std::to_string(4 * k) + "];\n";
    text += adds + "add.s32 %r9, %r9, -1;\nsetp.ne.s32 %p1, %r9, 0;\n@%p1 bra $L1;\n$L2:\n" + stores + "ret;\n}\n";
    return estimate_ptx_registers(parse_ptx(text, "k").code, 80, 0).registers.per_thread;
  };
  EXPECT_EQ(registers(120), 128);
  EXPECT_GT(registers(130), 128 + 6);
  EXPECT_LE(registers(100), 128);
  EXPECT_GT(registers(100), 100 + 7 + 6) << "loads of later passages";
}

TEST(PtxPressure, LoopCarriedValuesStayLive) {
  const PtxPressure p = pressure(
      "mov.f32 %f1, 0f00000000;\nmov.u32 %r1, %tid.x;\n$L1:\nadd.f32 %f1, %f1, %f1;\n"
      "add.s32 %r1, %r1, -1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L1;\nst.global.f32 [%rd9], %f1;");
  EXPECT_EQ(p.in_order, 4) << "a sum, a counter and a 64-bit address";
}

// An index that the loop does not read is computed again behind it where registers are scarce; what the loop reads,
// what was loaded before it, and a clock are kept.
TEST(PtxPressure, WhatCanBeComputedAgainIsNotKeptOverALoop) {
  const auto over_loop = [](int sums, const std::string& before, const std::string& inside) {
    std::string zeros, adds, stores;
    for (int k = 10; k < 10 + sums; ++k) {
      const std::string f = "%f" + std::to_string(k);
      zeros += "mov.f32 " + f + ", 0f00000000;\n";
      adds += "add.f32 " + f + ", " + f + ", %f2;\n";
      stores += "st.global.f32 [%rd9+" + std::to_string(4 * k) + "], " + f + ";\n";
    }
    return pressure(before + zeros + "ld.global.u32 %r9, [%rd9];\n$L1:\n" + inside +
                    "ld.global.f32 %f1, [%rd9];\nld.global.f32 %f2, [%rd9+4];\nadd.f32 %f2, %f1, %f2;\n" + adds +
                    "add.s32 %r9, %r9, -1;\nsetp.ne.s32 %p1, %r9, 0;\n@%p1 bra $L1;\n$L2:\n" + stores +
                    "st.global.u32 [%rd9+4], %r2;")
        .in_order;
  };
  const std::string index = "mov.u32 %r1, %tid.x;\nmad.lo.s32 %r2, %r1, 17, 3;\n";
  const std::string loaded = "ld.global.u32 %r2, [%rd9+8];\n";
  const int kept = over_loop(60, loaded, "");
  EXPECT_EQ(over_loop(60, index, ""), kept - 1);
  EXPECT_EQ(over_loop(60, index, "st.global.u32 [%rd9+8], %r2;\n"), kept);
  EXPECT_EQ(over_loop(60, "mov.u32 %r1, %clock;\nmad.lo.s32 %r2, %r1, 17, 3;\n", ""), kept);
  EXPECT_EQ(over_loop(10, index, ""), over_loop(10, loaded, "")) << "registers are there";
  EXPECT_EQ(over_loop(200, index, ""), over_loop(200, loaded, "")) << "no more warps would fit";
}

TEST(PtxPressure, AnAsynchronousCopyHasAnAddressWhateverItsHint) {
  for (const std::string copy : {"cp.async.cg.shared.global", "cp.async.cg.shared.global.L2::128B"})
    EXPECT_EQ(pressure("mov.u64 %rd1, %clock64;\nadd.s64 %rd2, %rd1, 16;\nadd.s64 %rd3, %rd1, 32;\n" + copy +
                       " [%r7], [%rd2], 16;\n" + copy + " [%r7+16], [%rd3], 16;")
                  .in_order,
              3)
        << copy;
}

TEST(PtxPressure, LoadsFirstRaisesPressureUpToStores) {
  const std::string pair =
      "ld.global.f32 %f1, [%rd1];\nadd.f32 %f9, %f9, %f1;\nld.global.f32 %f2, [%rd1+4];\nadd.f32 %f9, %f9, %f2;\n";
  const PtxPressure free = pressure(pair + "st.global.f32 [%rd1], %f9;");
  EXPECT_EQ(free.in_order, 4);
  EXPECT_EQ(free.loads_first, 5);
  std::string fenced = pair;
  fenced.insert(fenced.find("ld.global.f32 %f2"), "st.global.f32 [%rd1], %f9;\n");
  EXPECT_EQ(pressure(fenced + "st.global.f32 [%rd1], %f9;").loads_first, 4);
}

TEST(PtxRegisters, LaunchBoundsCapAndSpill) {
  std::string body, use;
  for (int i = 0; i < 100; ++i) {
    const std::string r = "%f" + std::to_string(i + 1);
    body += "ld.global.f32 " + r + ", [%rd1+" + std::to_string(4 * i) + "];\n";
    use += "st.global.f32 [%rd1+" + std::to_string(4 * i) + "], " + r + ";\n";
  }
  const std::string text = ".visible .entry k(\n)\n{\n" + body + use + "\nret;\n}\n";
  const auto kernel = parse_ptx(text, "k");
  const PtxRegisters unbound = estimate_ptx_registers(kernel.code, 80, 0),
                     capped = estimate_ptx_registers(kernel.code, 80, 1024);
  const Registers &free = unbound.registers, &bound = capped.registers;
  EXPECT_GT(free.per_thread, 100);
  EXPECT_EQ(free.spill_bytes, 0);
  EXPECT_EQ(bound.per_thread, 64);
  EXPECT_TRUE(unbound.spills.empty());
  int loads = 0, stores = 0;
  for (const SpillAccess& a : capped.spills) {
    loads += a.loads;
    stores += a.stores;
  }
  // A hundred values that are each stored and read once: what has no room goes to local memory and comes back.
  EXPECT_EQ(loads, stores);
  EXPECT_EQ(bound.spill_bytes, 4.0 * stores);
  EXPECT_GE(stores, 100 - 64);
  EXPECT_LT(stores, 100);
  EXPECT_EQ(estimate_ptx_registers(kernel.code, 20, 0).registers.per_thread, 63);
}

// Values that two sums use, the second one long after the first: in the order of the text all are alive in between, but
// each could be added to both sums at once.
std::string two_sums(int values) {
  std::string first, second;
  for (int i = 0; i < values; ++i) {
    const std::string r = "%f" + std::to_string(i + 10);
    first += "ld.shared.f32 " + r + ", [%rd1+" + std::to_string(4 * i) + "];\nadd.f32 %f1, %f1, " + r + ";\n";
    second += "add.f32 %f2, %f2, " + r + ";\n";
  }
  return ".visible .entry k(\n)\n{\nmov.f32 %f1, 0f00000000;\nmov.f32 %f2, 0f00000000;\n" + first + second +
         "st.global.f32 [%rd2], %f1;\nst.global.f32 [%rd2+4], %f2;\nret;\n}\n";
}

TEST(PtxRegisters, ValuesThatFitInAnotherOrderOnly) {
  const std::string long_text = two_sums(400), short_text = two_sums(200);
  const auto many = parse_ptx(long_text, "k"), few = parse_ptx(short_text, "k");
  const PtxRegisters open = estimate_ptx_registers(many.code, 80, 0);
  EXPECT_LT(open.registers.per_thread, 64);
  EXPECT_EQ(open.registers.high, 255) << "the compiler may not find that order";
  EXPECT_EQ(open.registers.spill_bytes, 0);
  EXPECT_TRUE(open.spills.empty());
  EXPECT_NEAR(open.registers.in_text_order, 400, 16);
  int loads = 0, stores = 0;
  for (const SpillAccess& a : open.text_order_spills) {
    loads += a.loads;
    stores += a.stores;
  }
  EXPECT_NEAR(loads, stores, 4);  // a sum may go as well, which a move made
  EXPECT_NEAR(open.registers.text_order_spill_bytes, 4.0 * stores, 16);
  EXPECT_GT(stores, 400 - 255);
  EXPECT_LT(stores, 400 - 200 + 16);
  // 200 fit in any order.
  EXPECT_EQ(estimate_ptx_registers(few.code, 80, 0).registers.in_text_order, 0);
  EXPECT_TRUE(estimate_ptx_registers(few.code, 80, 0).text_order_spills.empty());
  EXPECT_GT(estimate_ptx_registers(few.code, 80, 512).registers.in_text_order, 200) << "128 are left";
}

}  // namespace
}  // namespace kernelcast::frontend
