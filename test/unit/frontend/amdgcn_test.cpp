#include <gmock/gmock.h>

#include "frontend/code/amd/amdgcn.h"
#include "frontend/ir/assembly.h"
#include "kernelcast/error.h"
#include "support/test_names.h"

namespace kernelcast::frontend::amdgcn_test {
namespace {

constexpr std::string_view text = R"(
	.text
k:                                      ; @k
.Lfunc_begin0:
	.file	0 "/d" "a.cl"
	.loc	0 1 0                           ; a.cl:1:0
; %bb.0:                                ; %kc0
	s_load_dwordx2 s[4:5], s[6:7], 0x10
	.loc	0 3 9 is_stmt 0                 ; a.cl:3:9
	v_cmp_gt_i32_e32 vcc, s4, v0
	s_waitcnt lgkmcnt(0)
	s_cbranch_execz .LBB0_3
; %bb.1:                                ; %kc1
	;;#ASMSTART
	kc_math exp.f32, v1, v1
	;;#ASMEND
.LBB0_2:                                ; %Flow
                                        ;   in Loop: Header=BB0_1 Depth=1
	v_dual_fmac_f32 v2, v3, v4 :: v_dual_mul_f32 v5, v6, v7
	buffer_store_dword v1, off, s[0:3], s32 offset:4 ; 4-byte Folded Spill
.Ltmp2:
.LBB0_3:                                ; %kc2
	s_endpgm
.Lfunc_end0:
; Kernel info:
; NumSgprs: 20
; NumVgprs: 31
; NumAgprs: 4
; TotalNumVgprs: 36
; ScratchSize: 8
; LDSByteSize: 2048 bytes/workgroup (compile time only)
    .sgpr_spill_count: 0
    .vgpr_spill_count: 2
)";

TEST(AmdgcnText, ReadsBlocksLinesAndResources) {
  const AmdgcnKernel k = parse_amdgcn(text, "k");
  std::vector<std::string> names, opcodes;
  for (const auto& b : k.code.blocks) names.emplace_back(b.ir_name);
  for (const auto& i : k.code.instructions) opcodes.emplace_back(i.opcode);
  EXPECT_THAT(names, testing::ElementsAre("kc0", "kc1", "Flow", "kc2"));
  EXPECT_THAT(opcodes,
              testing::ElementsAre("s_load_dwordx2", "v_cmp_gt_i32_e32", "s_waitcnt", "s_cbranch_execz", "kc_math",
                                   "v_dual_fmac_f32", "v_dual_mul_f32", "buffer_store_dword", "s_endpgm"));
  EXPECT_EQ(k.code.instructions[0].line, 1);
  EXPECT_EQ(k.code.instructions[1].line, 3);
  EXPECT_EQ(k.code.files.at(0), "a.cl");
  EXPECT_TRUE(k.code.instructions[4].inlined);
  EXPECT_EQ(k.vector_registers, 36);
  EXPECT_EQ(k.scalar_registers, 20);
  EXPECT_EQ(k.scratch_bytes, 8);
  EXPECT_EQ(k.lds_bytes, 2048);
  EXPECT_EQ(k.vector_spills, 2);
  EXPECT_THROW(parse_amdgcn(text, "l"), InternalError);
}

struct Case {
  const char *opcode, *operands, *cost;
};
class AmdgcnOps : public testing::TestWithParam<Case> {};

TEST_P(AmdgcnOps, Costs) {
  AsmInstruction i;
  i.opcode = GetParam().opcode;
  i.operands = split_operands(GetParam().operands);
  const Cost cost = amdgcn_cost(i, "s[0:3]");
  EXPECT_TRUE(cost.known) << i.opcode;
  EXPECT_EQ(cost.ops.n, parse_cost(GetParam().cost).n) << i.opcode;
}

TEST(AmdgcnOps, MatrixInstructionsCountWhatTheyMultiplyByType) {
  AsmInstruction i;
  i.opcode = "v_mfma_f32_32x32x8_f16";
  EXPECT_EQ(amdgcn_cost(i, "").ops.tensor.warp[static_cast<std::size_t>(TensorType::f16_f32)], 32.0 * 32 * 8);
  i.opcode = "v_mfma_f64_16x16x4_f64";
  EXPECT_EQ(amdgcn_cost(i, "").ops.tensor.warp[static_cast<std::size_t>(TensorType::f64_f64)], 16.0 * 16 * 4);
}

INSTANTIATE_TEST_SUITE_P(
    Table, AmdgcnOps,
    testing::Values(Case{"v_fma_f32", "", "fp32_fma"}, Case{"v_fmac_f32_e32", "", "fp32_fma"},
                    Case{"v_mac_f32_e32", "", "fp32_fma"}, Case{"v_add_f64", "", "fp64_add"},
                    Case{"v_mul_f64", "", "fp64_mul"}, Case{"v_pk_fma_f16", "", "fp16_fma"},
                    Case{"v_pk_fma_f32", "", "fp32_fma:2"}, Case{"v_pk_mul_f32", "", "fp32_mul:2"},
                    Case{"v_rcp_f32_e32", "", "fp32_special"}, Case{"v_rsq_f64_e32", "", "fp64_special"},
                    Case{"v_sqrt_f32_e32", "", "fp32_special"}, Case{"v_div_scale_f32", "", "fp32_fma"},
                    Case{"v_div_fixup_f64", "", "fp64_fma"}, Case{"v_ldexp_f32", "", "fp32_mul"},
                    Case{"v_cmp_lt_f64_e32", "", "fp64_compare"}, Case{"v_cmp_gt_i32_e32", "", "compare"},
                    Case{"v_cndmask_b32_e32", "", "select"}, Case{"v_add_u32_e32", "", "int_add"},
                    Case{"v_add_co_u32_e32", "", "int64_add"}, Case{"v_addc_co_u32_e32", "", "int64_add"},
                    Case{"v_add_nc_u32_e32", "", "int_add"}, Case{"v_mul_lo_u32", "", "int_mul"},
                    Case{"v_mul_u32_u24_e32", "", "int_add"}, Case{"v_mad_u64_u32", "", "int_mad"},
                    Case{"v_lshlrev_b32_e32", "", "shift"}, Case{"v_lshl_add_u32", "", "int_add"},
                    Case{"v_and_b32_e32", "", "logic"}, Case{"v_bfe_u32", "", "bit_special"},
                    Case{"v_cvt_f32_i32_e32", "", "convert"}, Case{"v_cvt_f64_f32_e32", "", "convert64"},
                    Case{"v_mov_b32_e32", "", "move"}, Case{"v_mov_b32_dpp", "", "shuffle"},
                    Case{"v_mfma_f32_32x32x8f16", "", "tensor"}, Case{"v_max_f32_e32", "", "min_max"},
                    Case{"v_exp_f32_e32", "", "fp32_special"}, Case{"s_add_u32", "", "scalar_alu"},
                    Case{"s_load_dwordx4", "", "scalar_load"}, Case{"s_waitcnt", "vmcnt(0)", ""},
                    Case{"s_nop", "0", ""}, Case{"s_barrier", "", "barrier"}, Case{"s_cbranch_scc1", "", "control"},
                    Case{"s_endpgm", "", "control"}, Case{"ds_read2_b32", "", "shared_load"},
                    Case{"ds_write_b128", "", "shared_store"}, Case{"ds_add_u32", "", "shared_atomic"},
                    Case{"ds_bpermute_b32", "", "shuffle"}, Case{"global_load_dwordx4", "", "global_load"},
                    Case{"global_atomic_add_f32", "", "global_atomic"}, Case{"flat_store_dword", "", "global_store"},
                    Case{"scratch_load_dword", "", "local_load"},
                    Case{"buffer_load_dword", "v1, off, s[0:3], 0 offset:4", "local_load"},
                    Case{"buffer_load_dword", "v1, v[2:3], s[4:7], 0 addr64", "global_load"},
                    Case{"buffer_load_dword", "v1, v[2:3], s[0:3], 0 addr64", "global_load"},
                    Case{"image_sample", "", "texture_load"}, Case{"v_dual_mul_f32", "", "fp32_mul"}),
    [](const auto& one) { return test::test_name(one.param.opcode, one.index); });

TEST(AmdgcnOps, UnknownInstructionsAreOneOperation) {
  AsmInstruction i;
  i.opcode = "v_frobnicate_f32";
  EXPECT_FALSE(amdgcn_cost(i, "").known);
  EXPECT_EQ(amdgcn_cost(i, "").ops, parse_cost("other"));
}

TEST(AmdgcnOps, BufferInstructionsOfKernelsWithoutScratchAreGlobal) {
  AsmInstruction i;
  i.opcode = "buffer_store_dword";
  i.operands = {"v1", "off", "s[0:3]", "0"};
  EXPECT_EQ(amdgcn_cost(i, "").ops, parse_cost("global_store"));
}

// As LLVM begins a large kernel: the descriptor leaves s[0:3], which then hold something else.
TEST(AmdgcnText, FollowsTheDescriptorOfPrivateMemory) {
  constexpr const char* moved = R"(k:
; %bb.0:                                ; %kc0
	s_mov_b64 s[102:103], s[2:3]
	s_mov_b64 s[100:101], s[0:1]
	s_load_dwordx2 s[0:1], s[4:5], 0x0
	buffer_store_dword v3, off, s[100:103], 0 offset:152 ; 4-byte Folded Spill
	buffer_load_dword v1, off, s[0:3], 0
	s_endpgm
.Lfunc_end0:
; NumVgprs: 128
; ScratchSize: 156
    .vgpr_spill_count: 70
)";
  const AmdgcnKernel k = parse_amdgcn(moved, "k");
  EXPECT_EQ(k.scratch_descriptor, "s[100:103]");
  EXPECT_EQ(amdgcn_cost(k.code.instructions[3], k.scratch_descriptor).ops, parse_cost("local_store"));
  EXPECT_EQ(amdgcn_cost(k.code.instructions[4], k.scratch_descriptor).ops, parse_cost("global_load"));
  EXPECT_EQ(parse_amdgcn(text, "k").scratch_descriptor, "s[0:3]");
}

// A register counts each time it is spilled, and slots are shared.
TEST(AmdgcnAnalysis, SpillsAreNoLargerThanThePrivateSegment) {
  std::string small(text);
  const TargetCode whole = analyze_amdgcn(text, "k", {"kc0", "kc1", "kc2"});
  EXPECT_EQ(whole.registers.spill_bytes, 8);
  EXPECT_EQ(whole.stack_bytes, 0);
  const auto at = small.find(".vgpr_spill_count: 2");
  ASSERT_NE(at, std::string::npos);
  const TargetCode part = analyze_amdgcn(small.replace(at, 20, ".vgpr_spill_count: 1"), "k", {"kc0", "kc1", "kc2"});
  EXPECT_EQ(part.registers.spill_bytes, 4);
  EXPECT_EQ(part.stack_bytes, 4);
  const TargetCode shared = analyze_amdgcn(small.replace(at, 20, ".vgpr_spill_count: 9"), "k", {"kc0", "kc1", "kc2"});
  EXPECT_EQ(shared.registers.spill_bytes, 8);
  EXPECT_EQ(shared.stack_bytes, 0);
}

}  // namespace
}  // namespace kernelcast::frontend::amdgcn_test
