#include "frontend/code/nvidia/ptx_text.h"

#include <gtest/gtest.h>

#include "frontend/code/nvidia/ptx_fusion.h"
#include "frontend/ir/assembly.h"
#include "support/test_names.h"

namespace kernelcast::frontend {
namespace {

AsmInstruction instruction(std::string_view opcode, std::string_view operands = "") {
  AsmInstruction i;
  i.opcode = opcode;
  i.operands = split_operands(operands);
  return i;
}

struct Case {
  const char *opcode, *operands, *cost;
};

class PtxOps : public testing::TestWithParam<Case> {};

TEST_P(PtxOps, Costs) {
  const Cost cost = ptx_cost(instruction(GetParam().opcode, GetParam().operands), 80);
  EXPECT_TRUE(cost.known) << GetParam().opcode;
  EXPECT_EQ(cost.ops.n, parse_cost(GetParam().cost).n) << GetParam().opcode;
}

TEST(PtxOps, MatrixInstructionsCountWhatTheyMultiplyByType) {
  const auto products = [](std::string_view opcode) { return ptx_cost(instruction(opcode), 90).ops.tensor; };
  const TensorOps half = products("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  EXPECT_EQ(half.warp[static_cast<std::size_t>(TensorType::f16_f32)], 2048);
  EXPECT_EQ(half.of(TensorType::f16_f16), 0);
  const TensorOps group = products("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16");
  EXPECT_EQ(group.async[static_cast<std::size_t>(TensorType::bf16_f32)], 16.0 * 256 * 16);
  EXPECT_FALSE(products("fma.rn.f32").any());
  // A shape that the opcode does not have is not counted in silence.
  EXPECT_FALSE(ptx_cost(instruction("tcgen05.mma.cta_group::1.kind::f16"), 100).known);
  EXPECT_FALSE(ptx_cost(instruction("mma.sync.aligned.m16n8k16.row.col.f32.new.new.f32"), 90).known);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PtxOps,
    testing::Values(
        Case{"add.rn.f64", "", "fp64_add"}, Case{"fma.rn.ftz.f32", "", "fp32_fma"}, Case{"add.f16x2", "", "fp16_add"},
        Case{"add.s64", "", "int64_add:2"}, Case{"add.s32", "", "int_add"}, Case{"mul.wide.s32", "", "int_mad"},
        Case{"neg.f32", "", ""}, Case{"abs.f64", "", ""}, Case{"ld.param.u64", "%rd1, [p]", ""},
        Case{"ld.global.nc.v4.f32", "", "global_load"}, Case{"ld.volatile.global.u32", "", "global_load"},
        Case{"ld.u32", "", "global_load"}, Case{"ld.shared.f64", "", "shared_load"},
        Case{"st.local.v2.b32", "", "local_store"}, Case{"ld.global.cg.v4.f32", "", "global_load"},
        Case{"ld.shared::cta.u32", "", "shared_load"}, Case{"ld.const.f32", "%f1, [table+8]", ""},
        Case{"ld.const.f32", "%f1, [%rd1+8]", "constant_load"}, Case{"atom.global.add.f32", "", "global_atomic"},
        Case{"atom.shared.cas.b32", "", "shared_atomic"}, Case{"red.global.add.u32", "", "global_atomic"},
        Case{"bar.sync", "0", "barrier"}, Case{"barrier.cta.sync.aligned", "0", "barrier"},
        Case{"bar.warp.sync", "", "control"}, Case{"membar.gl", "", "fence"}, Case{"fence.acq_rel.gpu", "", "fence"},
        Case{"shfl.sync.bfly.b32", "", "shuffle"}, Case{"vote.sync.ballot.b32", "", "vote"},
        Case{"redux.sync.add.s32", "", "vote"}, Case{"match.any.sync.b32", "", "vote"},
        Case{"activemask.b32", "", "vote"}, Case{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "", "tensor"},
        Case{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "", "tensor"},
        Case{"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "", "shared_load"},
        Case{"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "", "shared_load"},
        Case{"cp.async.ca.shared.global", "", "async_copy"}, Case{"cp.async.commit_group", "", "other"},
        Case{"cp.async.wait_group", "0", "other"}, Case{"mbarrier.init.shared.b64", "", "shared_atomic"},
        Case{"tex.2d.v4.f32.s32", "", "texture_load"}, Case{"setp.lt.s32", "", "compare"},
        Case{"setp.eq.s64", "", "compare:2"}, Case{"setp.gt.f64", "", "fp64_compare"}, Case{"selp.b64", "", "select:2"},
        Case{"and.pred", "", ""}, Case{"and.b64", "", "logic:2"}, Case{"shl.b64", "", "shift:2"},
        Case{"cvt.u32.u64", "", ""}, Case{"cvt.s64.s32", "", "shift"}, Case{"cvt.u64.u32", "", ""},
        Case{"cvt.rn.f32.s32", "", "convert"}, Case{"cvt.f64.f32", "", "convert64"},
        Case{"cvt.rzi.s32.f64", "", "convert64"}, Case{"cvt.u32.u16", "", "logic"}, Case{"cvt.f32.f16", "", "fp16_add"},
        Case{"mov.u32", "%r1, %tid.x", "special_register"}, Case{"mov.u32", "%r1, %ntid.x", ""},
        Case{"mov.u32", "%r1, %r2", ""}, Case{"mov.b64", "{%r1, %r2}, %rd3", ""}, Case{"bra.uni", "$L", ""},
        Case{"ret", "", "control"}, Case{"ex2.approx.ftz.f32", "", "fp32_special"},
        Case{"sin.approx.f32", "", "fp32_mul fp32_special"}, Case{"min.s32", "", "min_max"},
        Case{"popc.b32", "", "bit_special"}, Case{"prmt.b32", "", "bit_special"}, Case{"lop3.b32", "", "logic"},
        Case{"kc.math", "second_result, %f1, %f2", ""}),
    [](const auto& one) { return test::test_name(one.param.opcode, one.index); });

TEST(PtxOps, ExpandsWhatPtxasExpands) {
  for (const char* opcode : {"div.rn.f32", "div.full.f32", "sqrt.rn.f32", "rcp.rn.f64", "div.rn.f64", "div.s32",
                             "rem.u32", "rem.u64", "mul.lo.s64", "mad.lo.s64", "min.f64", "bfe.u32", "clz.b32"}) {
    const Cost cost = ptx_cost(instruction(opcode), 80);
    EXPECT_TRUE(cost.known) << opcode;
    EXPECT_GT(cost.ops.total(), 1) << opcode;
  }
  EXPECT_EQ(ptx_cost(instruction("div.rn.f32"), 80).ops[OpClass::fp32_special], 1);
  EXPECT_LT(ptx_cost(instruction("div.approx.ftz.f32"), 80).ops.total(),
            ptx_cost(instruction("div.rn.f32"), 80).ops.total());
}

TEST(PtxOps, GenerationsDiffer) {
  EXPECT_NE(ptx_cost(instruction("div.rn.f32"), 75).ops, ptx_cost(instruction("div.rn.f32"), 80).ops);
  EXPECT_EQ(ptx_cost(instruction("div.rn.f32"), 35).ops, ptx_cost(instruction("div.rn.f32"), 75).ops)
      << "older than any row: the oldest row";
  EXPECT_EQ(ptx_cost(instruction("mul.lo.s32"), 30).ops, parse_cost("int_mul"));
  EXPECT_EQ(ptx_cost(instruction("mul.lo.s32"), 61).ops, parse_cost("int_mad:3")) << "XMAD";
  EXPECT_EQ(ptx_cost(instruction("mul.lo.s32"), 70).ops, parse_cost("int_mul"));
}

// SASS of ptxas 13.0: I2F or I2FP, F2F or F2FP, HADD2.F32.
TEST(PtxOps, ConversionsHaveTheUnitOfTheirGeneration) {
  const auto costs = [](const char* opcode, int sm) { return ptx_cost(instruction(opcode), sm).ops; };
  for (const char* opcode : {"cvt.rn.f32.s32", "cvt.rn.f32.u32", "cvt.rn.f32.u16", "cvt.rn.f32.u8"})
    for (const auto& [sm, unit] : {std::pair{75, "convert"}, {80, "convert"}, {86, "convert_alu"}, {90, "convert_alu"}})
      EXPECT_EQ(costs(opcode, sm), parse_cost(unit)) << opcode << " on sm_" << sm;
  for (const char* opcode : {"cvt.rn.f16.f32", "cvt.rn.bf16.f32", "cvt.rn.f16x2.f32"})
    for (const auto& [sm, unit] : {std::pair{75, "convert"}, {80, "convert_alu"}, {120, "convert_alu"}})
      EXPECT_EQ(costs(opcode, sm), parse_cost(unit)) << opcode << " on sm_" << sm;
  for (const int sm : {75, 80, 90}) {
    EXPECT_EQ(costs("cvt.f32.f16", sm), parse_cost("fp16_add"));
    EXPECT_EQ(costs("cvt.rzi.s32.f32", sm), parse_cost("convert"));
    EXPECT_EQ(costs("cvt.rmi.f32.f32", sm), parse_cost("convert"));
    EXPECT_EQ(costs("cvt.rn.f32.s64", sm), parse_cost("convert64"));
  }
  EXPECT_EQ(costs("cvt.f32.f16", 60), parse_cost("convert"));
  for (const char* opcode : {"cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.f16x2.e5m2x2"})
    EXPECT_EQ(costs(opcode, 90), parse_cost("convert_alu")) << opcode;
}

TEST(PtxOps, UnknownInstructionsAreOneOperation) {
  const Cost cost = ptx_cost(instruction("frobnicate.f32"), 80);
  EXPECT_FALSE(cost.known);
  EXPECT_EQ(cost.ops, parse_cost("other"));
}

TEST(PtxOps, MathFunctionsByTable) {
  const Cost one = ptx_cost(instruction("kc.math", "exp.f32, %f1, %f2"), 80);
  EXPECT_TRUE(one.known);
  EXPECT_EQ(one.ops[OpClass::fp32_special], 1);
  EXPECT_EQ(ptx_cost(instruction("kc.math", "exp.f32x4, %f1, %f2"), 80).ops, one.ops.scaled(4));
  EXPECT_FALSE(ptx_cost(instruction("kc.math", "mystery.f32, %f1, %f2"), 80).known);
  EXPECT_LT(ptx_cost(instruction("kc.math", "exp.f32.fast, %f1, %f2"), 80).ops.total(), one.ops.total());
  EXPECT_EQ(ptx_cost(instruction("kc.math", "sqrt.f16, %rs1, %rs2"), 80).ops,
            parse_cost("convert_alu fp16_add fp32_special"));
}

// Sum of the costs after narrowing and merging, without the stack pointer, the descriptor of global memory and the end.
OpCounts fused(const std::string& body, int sm = 80) {
  const std::string text = ".visible .entry k(\n)\n{\n" + body + "\nret;\n}\n";
  const auto kernel = parse_ptx(text, "k");
  OpCounts sum;
  for (const auto& c : ptx_costs(kernel.code, sm)) sum += c;
  const bool global = sm >= 80 && (body.find("global") != std::string::npos || body.find("ld.u") != std::string::npos);
  sum[OpClass::move] -= global ? 2 : 1;
  sum[OpClass::control] -= 1;
  return sum;
}

// Of ptxas 13.0: MOV R1 and ULDC.64 of the descriptor, from sm_90 on LDC or ULDC of each parameter and size of the
// grid, S2UR, UMOV and ULEA of the window of shared memory, and no register for the factor of an address.
TEST(PtxFusion, WhatAKernelSetsOnce) {
  const auto moves = [](const std::string& body, int sm) {
    return fused(body, sm)[OpClass::move] + (sm >= 80 ? 2 : 1);
  };
  const std::string copy =
      "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"
      "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd5], %f1;";
  EXPECT_EQ(moves(copy, 75), 2);
  EXPECT_EQ(moves(copy, 80), 3);
  EXPECT_EQ(moves(copy, 90), 4);
  const std::string sizes = "mov.u32 %r1, %ntid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %nctaid.y;\n";
  EXPECT_EQ(moves(sizes + copy, 80), 3);
  EXPECT_EQ(moves(sizes + copy, 90), 6);
  EXPECT_EQ(moves("ld.shared.f32 %f2, [%r4];\n" + copy, 80), 3);
  EXPECT_EQ(moves("ld.shared.f32 %f2, [%r4];\n" + copy, 90), 7);
}

TEST(PtxOps, SignsAreOperandsOfArithmeticOnly) {
  EXPECT_EQ(fused("neg.f32 %f2, %f1;\nst.global.f32 [%rd1], %f2;"), parse_cost("fp32_add global_store"));
  EXPECT_EQ(fused("abs.f64 %fd2, %fd1;\nst.global.f64 [%rd1], %fd2;"), parse_cost("fp64_add global_store"));
  EXPECT_EQ(fused("neg.f32 %f2, %f1;\nmul.f32 %f3, %f2, %f1;\nst.global.f32 [%rd1], %f3;"),
            parse_cost("fp32_mul global_store"));
  EXPECT_EQ(fused("neg.f32 %f2, %f1;\nselp.f32 %f3, %f2, %f1, %p1;\nst.global.f32 [%rd1], %f3;"),
            parse_cost("fp32_add select global_store"));
}

TEST(PtxFusion, ConstantsAreOperandsButOfStores) {
  EXPECT_EQ(fused("mov.b32 %r1, 1065353216;\nst.global.u32 [%rd1], %r1;"), parse_cost("move global_store"));
  EXPECT_EQ(fused("mov.b32 %r1, 0;\nst.global.u32 [%rd1], %r1;"), parse_cost("global_store")) << "RZ";
  EXPECT_EQ(fused("mov.f32 %f1, 0f00000000;\nst.global.f32 [%rd1], %f1;"), parse_cost("global_store")) << "RZ";
  EXPECT_EQ(fused("mov.f32 %f1, 0f3F000000;\nst.global.f32 [%rd1], %f1;"), parse_cost("move global_store"));
  EXPECT_EQ(fused("mov.b32 %r1, 77;\nadd.s32 %r2, %r3, %r1;\nst.global.u32 [%rd1], %r2;"),
            parse_cost("int_add global_store"));
}

constexpr const char* scaled_twice =
    "mul.wide.s32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nst.global.u64 [%rd4], %rd5;";

TEST(PtxFusion, ScaledAddressIsOneInstructionPerBase) {
  EXPECT_EQ(fused(scaled_twice), parse_cost("int_mad:2 move global_store"));
}

TEST(PtxFusion, ScaledAddressesOfOlderGenerationsAreSeveralInstructions) {
  EXPECT_EQ(fused(scaled_twice, 35), parse_cost("int_add:2 int_mad:2 move global_store")) << "ISCADD and IMAD.HI each";
  EXPECT_EQ(fused(scaled_twice, 52), parse_cost("int64_add:2 int_add:2 shift:2 global_store"))
      << "both halves of the product first";
  const char* strided = "mul.wide.s32 %rd3, %r1, 12;\nadd.s64 %rd4, %rd1, %rd3;\nst.global.u64 [%rd4], %rd1;";
  EXPECT_EQ(fused(strided, 52), parse_cost("int_mad:7 int_add:2 int64_add global_store")) << "a product of XMADs";
  EXPECT_EQ(fused("mul.lo.s32 %r3, %r1, %r2;", 35), parse_cost("int_mul"));
  EXPECT_EQ(fused("mul.lo.s32 %r3, %r1, %r2;\nadd.s32 %r4, %r3, %r1;", 61), parse_cost("int_mad:3"));
}

TEST(PtxFusion, ThreeInputsAreOfMaxwell) {
  EXPECT_EQ(fused("add.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;", 35), parse_cost("int_add:2"));
  EXPECT_EQ(fused("add.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;", 52), parse_cost("int_add"));
  EXPECT_EQ(fused("and.b32 %r4, %r1, %r2;\nxor.b32 %r5, %r4, %r3;", 35), parse_cost("logic:2"));
  EXPECT_EQ(fused("and.b32 %r4, %r1, %r2;\nxor.b32 %r5, %r4, %r3;", 52), parse_cost("logic"));
}

TEST(PtxFusion, IndependentHalvesArePacked) {
  EXPECT_EQ(fused("fma.rn.f16 %rs1, %rs2, %rs3, %rs1;\nfma.rn.f16 %rs4, %rs2, %rs5, %rs4;"), parse_cost("fp16_fma"));
  EXPECT_EQ(fused("fma.rn.f16 %rs1, %rs2, %rs3, %rs1;\nfma.rn.f16 %rs4, %rs2, %rs5, %rs1;"), parse_cost("fp16_fma:2"))
      << "the second needs the first's result";
  EXPECT_EQ(fused("add.rn.f16 %rs1, %rs2, %rs3;\nmul.rn.f16 %rs4, %rs2, %rs5;"), parse_cost("fp16_add fp16_mul"));
}

TEST(PtxFusion, ConstantsOfAddressesBecomeOffsets) {
  const std::string sum = "add.s64 %rd2, %rd1, 16;\n", load = "ld.global.nc.f32 %f1, [%rd2];\n";
  EXPECT_EQ(fused(sum + load), parse_cost("global_load"));
  EXPECT_EQ(fused(sum + load + "ld.global.f32 %f2, [%rd2+4];"), parse_cost("global_load:2"));
  EXPECT_EQ(fused(sum + "st.global.u64 [%rd2], %rd1;"), parse_cost("global_store"));
  EXPECT_EQ(fused(sum + "st.global.u64 [%rd2], %rd2;"), parse_cost("int64_add:2 global_store")) << "stored as well";
  EXPECT_EQ(fused("add.s64 %rd2, %rd1, 8388608;\n" + load), parse_cost("int64_add:2 global_load")) << "25 bits";
  EXPECT_EQ(fused("add.s64 %rd2, %rd1, -8388608;\n" + load), parse_cost("global_load"));
  EXPECT_EQ(fused("add.s64 %rd2, %rd1, %rd3;\n" + load), parse_cost("int64_add:2 global_load"));
}

TEST(PtxFusion, ConstantsStayWhereTheRegisterChanges) {
  const std::string start = "ld.param.u64 %rd1, [a];\n$L:\n", sum = "add.s64 %rd2, %rd1, 16;\n",
                    load = "ld.global.f32 %f1, [%rd2];\n", step = "add.s64 %rd1, %rd1, 64;\n",
                    end = "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L;";
  const auto additions = [&](const std::string& body) { return fused(start + body + end)[OpClass::int64_add]; };
  EXPECT_EQ(additions(sum + load + step), 2) << "the step alone";
  EXPECT_EQ(additions(sum + step + load), 4);
}

TEST(PtxNarrow, SharedAddressesHave32Bits) {
  const std::string address = "mul.wide.u32 %rd2, %r1, 64;\nadd.s64 %rd3, %rd1, %rd2;\n";
  EXPECT_EQ(fused(address + "ld.shared.f32 %f1, [%rd3+4];"), parse_cost("int_add shared_load"));
  EXPECT_EQ(fused(address + "ld.local.f32 %f1, [%rd3];"), parse_cost("int_add local_load"));
  EXPECT_EQ(fused(address + "ld.global.f32 %f1, [%rd3];"), parse_cost("int_mad move global_load"));
  EXPECT_EQ(fused(address + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%rd3];"),
            parse_cost("int_add shared_load"));
  const std::string further = "add.s64 %rd4, %rd3, 2048;\n";
  EXPECT_EQ(fused(address + further + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%rd4];"),
            parse_cost("int_add shared_load"));
  // The address in shared memory has 32 bits, that in global memory 64.
  const std::string sums = "add.s64 %rd4, %rd1, %rd2;\n";
  const OpCounts to_shared = fused(sums + "cp.async.cg.shared.global [%rd4], [%rd5], 16;"),
                 from_global = fused(sums + "cp.async.cg.shared.global [%rd5], [%rd4], 16;");
  EXPECT_EQ(to_shared[OpClass::int_add], 1);
  EXPECT_EQ(from_global[OpClass::int64_add], 2);
  EXPECT_EQ(fused(address + "st.shared.u64 [%rd4], %rd3;"), parse_cost("int_mad move shared_store")) << "stored whole";
  EXPECT_EQ(fused(address + "ld.shared.f32 %f1, [%rd3];\nst.global.u64 [%rd5], %rd3;"),
            parse_cost("int_mad move shared_load global_store"));
}

TEST(PtxNarrow, UpperHalvesThatARightShiftWantsStay) {
  EXPECT_EQ(
      fused("add.s64 %rd2, %rd1, %rd3;\nshl.b64 %rd4, %rd2, 3;\ncvt.u32.u64 %r1, %rd4;\nst.global.u32 [%rd9], %r1;"),
      parse_cost("int_add shift global_store"));
  EXPECT_EQ(
      fused("add.s64 %rd2, %rd1, %rd3;\nshr.u64 %rd4, %rd2, 3;\ncvt.u32.u64 %r1, %rd4;\nst.global.u32 [%rd9], %r1;"),
      parse_cost("int64_add:2 shift:2 global_store"));
}

TEST(PtxNarrow, AddressesOfALoopMayStayNarrow) {
  EXPECT_EQ(
      fused("mov.u64 %rd1, tile;\n$L:\nadd.s64 %rd1, %rd1, 64;\nld.shared.f32 %f1, [%rd1];\nsetp.ne.s32 %p1, %r1, 0;\n"
            "@%p1 bra $L;"),
      parse_cost("move int_add shared_load compare control"));
}

TEST(PtxFusion, TheAddressOfASharedVariableIsInTheOffset) {
  EXPECT_EQ(fused("mov.u64 %rd1, tile;\nshl.b64 %rd2, %rd5, 2;\nadd.s64 %rd3, %rd1, %rd2;\nld.shared.f32 %f1, [%rd3];"),
            parse_cost("shift shared_load"));
  EXPECT_EQ(
      fused("mov.u64 %rd1, tile;\nshl.b64 %rd2, %rd5, 2;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u64 [%rd9], %rd3;"),
      parse_cost("int64_add int_add global_store"));
}

TEST(PtxFusion, FunctionsOfConstantsAreConstants) {
  EXPECT_EQ(
      fused("mov.f32 %f2, 0f40000000;\nkc.math native_powr.f32, %f1, %f2, 0f3F800000;\nst.global.f32 [%rd1], %f1;"),
      parse_cost("global_store"));
  EXPECT_GT(
      fused("mov.f32 %f2, 0f40000000;\nkc.math native_powr.f32, %f1, %f2, %f3;\nst.global.f32 [%rd1], %f1;").total(),
      3);
}

// A product by the operands given, after an ldmatrix that fills {%r1, %r2, %r3, %r4}.
double moves_before(const std::string& shape, const std::string& a, const std::string& b, int products = 1) {
  std::string text = "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r9];\n";
  for (int i = 0; i < products; ++i)
    text += "mma.sync.aligned." + shape + ".row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, " + a + ", " + b +
            ", {%f1, %f2, %f3, %f4};\n";
  return fused(text, 90)[OpClass::move];
}

TEST(PtxTuples, OperandsInTheOrderOfTheLoadLieInPlace) {
  EXPECT_EQ(moves_before("m16n8k16", "{%r1, %r2, %r3, %r4}", "{%r5, %r6}"), 0);
  EXPECT_EQ(moves_before("m16n8k16", "{%r5, %r6, %r7, %r8}", "{%r3, %r4}"), 0);
  EXPECT_EQ(moves_before("m16n8k8", "{%r1, %r2}", "{%r4}"), 0);
}

TEST(PtxTuples, OperandsInAnotherOrderAreCopied) {
  EXPECT_EQ(moves_before("m16n8k16", "{%r1, %r3, %r2, %r4}", "{%r5, %r6}"), 4);
  EXPECT_EQ(moves_before("m16n8k16", "{%r1, %r3, %r2, %r4}", "{%r5, %r6}", 8), 16) << "a copy for two products";
  EXPECT_EQ(moves_before("m16n8k16", "{%r5, %r6, %r7, %r8}", "{%r1, %r3}"), 2);
  EXPECT_EQ(moves_before("m16n8k16", "{%r5, %r6, %r7, %r8}", "{%r2, %r3}"), 2) << "not aligned";
  EXPECT_EQ(moves_before("m16n8k8", "{%r1, %r3}", "{%r5}"), 2);
}

TEST(PtxFusion, ThreeInputAddition) {
  EXPECT_EQ(fused("add.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;"), parse_cost("int_add"));
  EXPECT_EQ(fused("add.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;\nadd.s32 %r6, %r5, %r1;\nadd.s32 %r7, %r6, %r1;"),
            parse_cost("int_add:2"));
  EXPECT_EQ(fused("add.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;\nadd.s32 %r6, %r4, %r1;"), parse_cost("int_add:3"))
      << "a value used twice stays";
}

TEST(PtxFusion, LogicOfThreeWords) {
  EXPECT_EQ(fused("and.b32 %r4, %r1, %r2;\nnot.b32 %r5, %r1;\nand.b32 %r6, %r5, %r3;\nor.b32 %r7, %r4, %r6;"),
            parse_cost("logic"));
  EXPECT_EQ(fused("and.b32 %r5, %r1, %r2;\nand.b32 %r6, %r3, %r4;\nor.b32 %r7, %r5, %r6;"), parse_cost("logic:2"));
}

TEST(PtxFusion, RotationAndShiftedAdd) {
  EXPECT_EQ(fused("shl.b32 %r2, %r1, 7;\nshr.u32 %r3, %r1, 25;\nor.b32 %r4, %r2, %r3;"), parse_cost("shift"));
  EXPECT_EQ(fused("shl.b32 %r2, %r1, 7;\nadd.s32 %r4, %r2, %r3;"), parse_cost("int_add"));
}

TEST(PtxFusion, ConstantsAreEncodedUnlessALoopChangesThem) {
  EXPECT_EQ(fused("mov.f32 %f1, 0f3F800000;\nadd.f32 %f2, %f1, %f3;"), parse_cost("fp32_add"));
  EXPECT_EQ(fused("mov.f32 %f1, 0f00000000;\n$L1:\nadd.f32 %f1, %f1, %f3;\nbra.uni $L1;"), parse_cost("fp32_add move"));
}

}  // namespace
}  // namespace kernelcast::frontend
