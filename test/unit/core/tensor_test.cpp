// Types, shapes and multiply-adds of matrix instructions, from the opcodes as the vendors' manuals write them.
#include "kernelcast/tensor.h"

#include <gtest/gtest.h>

#include <string>

#include "kernelcast/ops.h"

namespace kernelcast {
namespace {

using T = TensorType;

struct Opcode {
  std::string_view opcode;
  T type;
  double multiply_adds;
};

void expect_product(const Opcode& c) {
  const auto i = matrix_instruction(c.opcode);
  ASSERT_TRUE(i) << c.opcode;
  EXPECT_EQ(name_of(i->type), name_of(c.type)) << c.opcode;
  EXPECT_EQ(i->multiply_adds(), c.multiply_adds) << c.opcode;
}

TEST(Tensor, PtxInstructionsOfAWarp) {
  for (const Opcode& c : {
           Opcode{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", T::f16_f32, 2048},
           Opcode{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", T::f16_f16, 2048},
           Opcode{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", T::tf32_f32, 1024},
           Opcode{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", T::bf16_f32, 2048},
           Opcode{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", T::f64_f64, 256},
           Opcode{"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", T::f16_f32, 1024},
           Opcode{"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", T::s8_s32, 4096},
           Opcode{"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", T::s4_s32, 8192},
           Opcode{"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", T::b1_s32, 32768},
           Opcode{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", T::f8_f32, 4096},
           Opcode{"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", T::f8_f16, 4096},
           Opcode{"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32", T::f6_f32, 4096},
           Opcode{"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
                  T::f4_f32, 8192},
           Opcode{"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", T::f16_f32, 2048},
           Opcode{"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", T::f16_f32, 2048},
           Opcode{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", T::f16_f32, 4096},
           Opcode{"wmma.mma.sync.aligned.row.col.m32n8k16.f16.f16", T::f16_f16, 4096},
           Opcode{"wmma.mma.sync.aligned.row.row.m16n16k16.s32.s8.s8.s32", T::s8_s32, 4096},
           Opcode{"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", T::tf32_f32, 2048},
           Opcode{"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", T::b1_s32, 8192},
       }) {
    expect_product(c);
    EXPECT_FALSE(matrix_instruction(c.opcode)->asynchronous);
  }
}

TEST(Tensor, AsynchronousPtxInstructions) {
  for (const Opcode& c : {
           // A warpgroup computes 64 rows; a warp's part are 16.
           Opcode{"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", T::f16_f32, 16.0 * 256 * 16},
           Opcode{"wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", T::f8_f32, 16.0 * 128 * 32},
           Opcode{"wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16", T::bf16_f32, 16.0 * 64 * 16},
           Opcode{"tcgen05.mma.cta_group::1.kind::f16.m128n256k16", T::f16_f32, 128.0 * 256 * 16},
           Opcode{"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.m128n64", T::f4_f32, 0},
           Opcode{"tcgen05.mma.cta_group::2.kind::f8f6f4", T::f8_f32, 0},  // the descriptor has the shape
       }) {
    expect_product(c);
    EXPECT_TRUE(matrix_instruction(c.opcode)->asynchronous);
  }
}

TEST(Tensor, AmdInstructions) {
  for (const Opcode& c : {
           Opcode{"v_mfma_f32_32x32x8f16", T::f16_f32, 32.0 * 32 * 8},
           Opcode{"v_mfma_f32_32x32x4f16", T::f16_f32, 2.0 * 32 * 32 * 4},
           Opcode{"v_mfma_f32_4x4x4_16b_f16", T::f16_f32, 16.0 * 4 * 4 * 4},
           Opcode{"v_mfma_f32_16x16x4f32", T::f32_f32, 16.0 * 16 * 4},
           Opcode{"v_mfma_f32_32x32x1f32", T::f32_f32, 2.0 * 32 * 32},
           Opcode{"v_mfma_f32_16x16x8bf16", T::bf16_f32, 16.0 * 16 * 8},
           Opcode{"v_mfma_f32_32x32x8bf16_1k", T::bf16_f32, 32.0 * 32 * 8},
           Opcode{"v_mfma_f64_16x16x4f64", T::f64_f64, 16.0 * 16 * 4},
           Opcode{"v_mfma_f64_4x4x4_4b_f64", T::f64_f64, 4.0 * 4 * 4 * 4},
           Opcode{"v_mfma_i32_32x32x16_i8", T::s8_s32, 32.0 * 32 * 16},
           Opcode{"v_mfma_f32_16x16x8_xf32", T::tf32_f32, 16.0 * 16 * 8},
           Opcode{"v_mfma_f32_16x16x32_fp8_bf8", T::f8_f32, 16.0 * 16 * 32},
           Opcode{"v_mfma_f32_16x16x32_f16", T::f16_f32, 16.0 * 16 * 32},
           Opcode{"v_mfma_scale_f32_16x16x128_f8f6f4", T::f8_f32, 16.0 * 16 * 128},
           Opcode{"v_smfmac_f32_16x16x32_f16", T::f16_f32, 16.0 * 16 * 16},
           Opcode{"v_wmma_f32_16x16x16_f16", T::f16_f32, 4096},
           Opcode{"v_wmma_f16_16x16x16_f16", T::f16_f16, 4096},
           Opcode{"v_wmma_i32_16x16x16_iu8", T::s8_s32, 4096},
           Opcode{"v_swmmac_f32_16x16x32_bf16", T::bf16_f32, 4096},
       })
    expect_product(c);
}

/// What llvm-mca 19 has with -instruction-tables for gfx908, gfx90a and gfx942.
TEST(Tensor, PassesOfMfma) {
  struct Row {
    std::string_view opcode;
    int passes;
  };
  for (const Row& r : {
           Row{"v_mfma_f32_32x32x1f32", 16},      Row{"v_mfma_f32_16x16x4f32", 8},
           Row{"v_mfma_f32_4x4x1f32", 2},         Row{"v_mfma_f32_32x32x8f16", 16},
           Row{"v_mfma_f32_16x16x16f16", 8},      Row{"v_mfma_f32_4x4x4f16", 2},
           Row{"v_mfma_i32_16x16x16i8", 8},       Row{"v_mfma_f32_16x16x8bf16", 8},
           Row{"v_mfma_f32_32x32x8bf16_1k", 16},  Row{"v_mfma_f64_16x16x4f64", 8},
           Row{"v_mfma_f64_4x4x4f64", 4},         Row{"v_mfma_f32_32x32x2_f32", 16},
           Row{"v_mfma_f32_16x16x1_4b_f32", 8},   Row{"v_mfma_f32_32x32x8_f16", 8},
           Row{"v_mfma_f32_16x16x16_f16", 4},     Row{"v_mfma_f32_32x32x4_2b_f16", 16},
           Row{"v_mfma_f32_16x16x4_4b_bf16", 8},  Row{"v_mfma_f32_4x4x4_16b_f16", 2},
           Row{"v_mfma_i32_32x32x4_2b_i8", 16},   Row{"v_mfma_i32_32x32x16_i8", 8},
           Row{"v_mfma_i32_16x16x32_i8", 4},      Row{"v_mfma_f64_16x16x4_f64", 8},
           Row{"v_mfma_f64_4x4x4_4b_f64", 4},     Row{"v_mfma_f32_16x16x8_xf32", 4},
           Row{"v_mfma_f32_32x32x16_fp8_fp8", 8}, Row{"v_smfmac_f32_16x16x32_f16", 4},
           Row{"v_smfmac_i32_32x32x32_i8", 8},    Row{"v_mfma_scale_f32_16x16x128_f8f6f4", 0},
           Row{"v_wmma_f32_16x16x16_f16", 0},
       }) {
    const auto product = matrix_instruction(r.opcode);
    ASSERT_TRUE(product) << r.opcode;
    EXPECT_EQ(product->passes, r.passes) << r.opcode;
  }
}

TEST(Tensor, NamedCallsAndWhatIsNoProduct) {
  expect_product({"kc.tensor.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", T::f16_f32, 2048});
  for (std::string_view other : {"fma.rn.f32", "wmma.load.a.sync.aligned.row.m16n16k16.f16", "wgmma.fence.sync.aligned",
                                 "wgmma.wait_group.sync.aligned", "tcgen05.alloc", "v_mul_f32", "v_mfma_", "mma.",
                                 "mma.sync.aligned.m16n8k.row.col.f32.f16.f16.f32"})
    EXPECT_FALSE(matrix_instruction(other)) << other;
}

TEST(Tensor, CountsAddUpOverWarpsAndNotOverLanes) {
  OpCounts one;
  one[OpClass::tensor] = 1;
  one.tensor.warp[static_cast<std::size_t>(T::f16_f32)] = 2048;
  one.tensor.warp[static_cast<std::size_t>(T::s8_s32)] = 4096;
  OpCounts sum = one.scaled(3);
  sum += one;
  EXPECT_EQ(sum.tensor.of(T::f16_f32), 4 * 2048);
  EXPECT_EQ(sum[OpClass::tensor], 4);
  EXPECT_EQ(tensor_flops(sum.tensor), 2 * 4 * 2048);  // integers are no floating-point operations
  EXPECT_FALSE(one.scaled_lanes(32).tensor.any());
  EXPECT_EQ(one.scaled_lanes(32)[OpClass::tensor], 32);
}

}  // namespace
}  // namespace kernelcast
