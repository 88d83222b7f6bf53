// The table of instructions: roles, accesses, matrix work, targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ptx/accesses.h"
#include "ptx/instructions.h"
#include "ptx/matrix.h"
#include "ptx/requirements.h"
#include "unit/ptx/ptx_text.h"

namespace kernelcast::ptx {
namespace {

using testing::ElementsAre;

std::vector<Role> roles(const Instruction& instruction) {
  std::vector<Role> all;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) all.push_back(role_of(instruction, i));
  return all;
}

using R = Role;

TEST(PtxTable, TheSamplesHaveEveryInstruction) {
  std::set<Op> seen;
  for (const std::string& file : sample_files()) {
    const Module module = parse(file_text(file), file);
    for (const Function& function : module.functions)
      for (const Instruction& instruction : function.body) {
        seen.insert(instruction.op);
        EXPECT_NE(instruction.op, Op::unknown) << print(instruction, function);
        EXPECT_GE(instruction.operands.size(), operand_count(instruction.op).least) << print(instruction, function);
      }
  }
  // Of a later version of PTX than the assembler takes that the samples were checked by.
  seen.insert({Op::multimem_cp_async_bulk, Op::multimem_cp_reduce_async_bulk});
  for (int i = 0; i < static_cast<int>(Op::unknown); ++i)
    EXPECT_TRUE(seen.contains(static_cast<Op>(i))) << name_of(static_cast<Op>(i));
}

TEST(PtxTable, RolesOfOperands) {
  EXPECT_THAT(roles(one("fma.rn.f32 %f1, %f2, %f3, %f4;")), ElementsAre(R::written, R::read, R::read, R::read));
  EXPECT_THAT(roles(one("ld.global.f32 %f1, [%rd1];")), ElementsAre(R::written, R::memory_read));
  EXPECT_THAT(roles(one("st.shared.f32 [smem], %f1;")), ElementsAre(R::memory_written, R::read));
  EXPECT_THAT(roles(one("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;")),
              ElementsAre(R::written, R::memory_updated, R::read, R::read));
  EXPECT_THAT(roles(one("setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3;")),
              ElementsAre(R::written, R::read, R::read, R::read));
  EXPECT_THAT(
      roles(one("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%rd1], 64, [%rd2];")),
      ElementsAre(R::memory_written, R::memory_read, R::read, R::mbarrier));
  EXPECT_THAT(roles(one("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%rd1, "
                        "{%r1}], [%rd2], {%rs1}, %rs2;")),
              ElementsAre(R::memory_written, R::tensor_map, R::mbarrier, R::read, R::read));
  EXPECT_THAT(roles(one("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [smem];")),
              ElementsAre(R::tensor_map, R::memory_read));
  EXPECT_THAT(roles(one("mbarrier.try_wait.shared.b64 %p1, [smem], %rd1;")),
              ElementsAre(R::written, R::mbarrier, R::read));
  EXPECT_THAT(roles(one("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, %rd1, "
                        "%p1, 1, 1, 1;")),
              ElementsAre(R::read_and_written, R::read, R::shared_descriptor, R::read, R::read, R::read, R::read));
  EXPECT_THAT(roles(one("tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r2], %rd1, %r3, %p1;")),
              ElementsAre(R::tensor_memory_updated, R::tensor_memory_read, R::shared_descriptor, R::read, R::read));
  EXPECT_THAT(roles(one("prefetch.global.L2 [%rd1];")), ElementsAre(R::address));
  EXPECT_THAT(roles(one("bra L; L:")), ElementsAre(R::label));
  EXPECT_THAT(roles(one("quux %r1, [%rd1], %r2;")), ElementsAre(R::written, R::memory_updated, R::read));
}

TEST(PtxTable, AccessesOfLanes) {
  const auto load = memory_accesses(one("ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];"));
  ASSERT_EQ(load.size(), 1U);
  EXPECT_EQ(load[0].bytes, 16U);
  EXPECT_EQ(load[0].space, Space::global);
  EXPECT_EQ(load[0].direction, Direction::read);
  EXPECT_EQ(load[0].granularity, Granularity::lane);
  EXPECT_EQ(load[0].operand, 1);
  EXPECT_EQ(memory_accesses(one("red.shared.add.u64 [smem], %rd1;"))[0].direction, Direction::update);
  EXPECT_EQ(memory_accesses(one("st.b8 [%rd1], %rs1;"))[0].bytes, 1U);
  EXPECT_TRUE(memory_accesses(one("prefetch.global.L2 [%rd1];")).empty());
  EXPECT_TRUE(memory_accesses(one("mbarrier.init.shared.b64 [smem], 1;")).empty());
}

TEST(PtxTable, AccessesOfAsynchronousCopies) {
  const auto copy = memory_accesses(one("cp.async.cg.shared.global [smem], [%rd1], 16;"));
  ASSERT_EQ(copy.size(), 2U);
  EXPECT_EQ(copy[0].space, Space::shared);
  EXPECT_EQ(copy[0].direction, Direction::write);
  EXPECT_EQ(copy[1].space, Space::global);
  EXPECT_EQ(copy[1].bytes, 16U);
  EXPECT_TRUE(copy[0].asynchronous);
  EXPECT_EQ(memory_accesses(one("cp.async.ca.shared.global [smem], [%rd1], 16, 4;"))[1].bytes, 4U);
  EXPECT_EQ(memory_accesses(one("cp.async.ca.shared.global [smem], [%rd1], 16, %r1;"))[1].bytes_operand, 3);
  const auto bulk = memory_accesses(one("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [smem], %r1;"));
  EXPECT_EQ(bulk[0].space, Space::global);
  EXPECT_EQ(bulk[0].bytes, 0U);
  EXPECT_EQ(bulk[0].bytes_operand, 2);
  EXPECT_EQ(bulk[0].granularity, Granularity::once);
  const auto tensor = memory_accesses(one(
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%rd1, {%r1}], [%rd2];"));
  ASSERT_EQ(tensor.size(), 2U);
  EXPECT_TRUE(tensor[1].by_tensor_map);
  EXPECT_EQ(tensor[1].space, Space::global);
  EXPECT_EQ(tensor[1].direction, Direction::read);
}

TEST(PtxTable, AccessesOfMatrices) {
  const auto rows = memory_accesses(one("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1,%r2,%r3,%r4}, [smem];"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].bytes, 512U);
  EXPECT_EQ(rows[0].rows, 32U);
  EXPECT_EQ(rows[0].row_bytes, 16U);
  EXPECT_EQ(rows[0].granularity, Granularity::warp);
  EXPECT_EQ(memory_accesses(one("wmma.load.b.sync.aligned.row.m8n32k16.global.f16 {%r1}, [%rd1], 64;"))[0].bytes,
            16U * 32 * 2);
  const auto operands =
      memory_accesses(one("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;"));
  ASSERT_EQ(operands.size(), 2U);
  EXPECT_EQ(operands[0].bytes, 64U * 16 * 2);
  EXPECT_EQ(operands[1].bytes, 128U * 16 * 2);
  EXPECT_TRUE(operands[0].by_descriptor);
  EXPECT_EQ(tensor_memory_bytes(one("tcgen05.ld.sync.aligned.32x32b.x16.b32 {%r1}, [%r2];")), 32U * 4 * 16);
  EXPECT_EQ(tensor_memory_bytes(one("tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;")), 128U * 32);
}

TEST(PtxTable, WorkOfMatrixInstructions) {
  const auto work = [](const std::string& text) { return matrix_work(one(text)).value(); };
  const MatrixWork half = work("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};");
  EXPECT_EQ(half.operations, 2U * 16 * 8 * 16);
  EXPECT_EQ(half.input, Type::f16);
  EXPECT_EQ(half.accumulator, Type::f32);
  EXPECT_EQ(half.granularity, Granularity::warp);
  EXPECT_TRUE(work("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1}, %r3, 0;").sparse);
  EXPECT_EQ(work("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};").input, Type::f16);
  EXPECT_EQ(work("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f1};").input,
            Type::tf32);
  const MatrixWork group =
      work("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;");
  EXPECT_EQ(group.operations, 2U * 64 * 256 * 16);
  EXPECT_EQ(group.granularity, Granularity::warpgroup);
  const MatrixWork unknown = work("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, %p1;");
  EXPECT_EQ(unknown.operations, 0U);
  EXPECT_EQ(unknown.shape.k, 16);
  EXPECT_EQ(with_descriptor(unknown, (128U / 16) << 24U | (256U / 8) << 17U).operations, 2U * 128 * 256 * 16);
  EXPECT_FALSE(matrix_work(one("add.u32 %r1, %r2, 1;")).has_value());
}

TEST(PtxTable, Targets) {
  const auto on = [](Op op, int capability) { return requirement_of(op).met_by(capability); };
  EXPECT_TRUE(on(Op::add, 50));
  EXPECT_FALSE(on(Op::cp_async, 75));
  EXPECT_TRUE(on(Op::cp_async, 120));
  EXPECT_FALSE(on(Op::wgmma_mma_async, 80));
  EXPECT_TRUE(on(Op::wgmma_mma_async, 90));
  EXPECT_FALSE(on(Op::wgmma_mma_async, 100));
  EXPECT_TRUE(on(Op::tcgen05_mma, 103));
  EXPECT_FALSE(on(Op::tcgen05_mma, 120));
  EXPECT_TRUE(on(Op::setmaxnreg, 120));
}

TEST(PtxTable, FormsAskForLaterTargets) {
  const auto first = [](const std::string& text) { return requirement_of(one(text)).first; };
  EXPECT_EQ(first("add.f32 %f1, %f2, %f3;"), 0);
  EXPECT_EQ(first("fma.rn.bf16x2 %r1, %r2, %r3, %r4;"), 80);
  EXPECT_EQ(first("add.rn.bf16x2 %r1, %r2, %r3;"), 90);
  EXPECT_EQ(first("add.rn.f32x2 %rd1, %rd2, %rd3;"), 100);
  EXPECT_EQ(first("cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;"), 89);
  EXPECT_EQ(first("cvt.rna.tf32.f32 %r1, %f1;"), 80);
  EXPECT_EQ(first("cvt.rn.f16.f32 %rs1, %f1;"), 0);
  EXPECT_EQ(first("atom.global.add.f64 %fd1, [%rd1], %fd2;"), 60);
  EXPECT_EQ(first("red.global.add.noftz.bf16x2 [%rd1], %r1;"), 90);
  EXPECT_EQ(first("mbarrier.arrive.shared.b64 %rd1, [%r1];"), 80);
  EXPECT_EQ(first("mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], 16;"), 90);
  EXPECT_EQ(first("ex2.approx.f16x2 %r1, %r2;"), 75);
  EXPECT_EQ(first("ex2.approx.f32 %f1, %f2;"), 0);
  const auto mma = [&](const std::string& form) {
    return first("mma.sync.aligned." + form + " {%r1}, {%r2}, {%r3}, {%r4};");
  };
  EXPECT_EQ(mma("m8n8k4.row.col.f32.f16.f16.f32"), 70);
  EXPECT_EQ(mma("m16n8k8.row.col.f32.f16.f16.f32"), 75);
  EXPECT_EQ(mma("m16n8k8.row.col.f32.tf32.tf32.f32"), 80);
  EXPECT_EQ(mma("m16n8k16.row.col.f32.f16.f16.f32"), 80);
  EXPECT_EQ(mma("m8n8k16.row.col.s32.s8.s8.s32"), 75);
  EXPECT_EQ(mma("m16n8k32.row.col.s32.s8.s8.s32"), 80);
  EXPECT_EQ(mma("m8n8k4.row.col.f64.f64.f64.f64"), 80);
  EXPECT_EQ(mma("m16n8k8.row.col.f64.f64.f64.f64"), 90);
  EXPECT_EQ(mma("m16n8k32.row.col.f32.e4m3.e4m3.f32"), 89);
  const std::string scaled =
      "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 {%r1}, {%r2}, "
      "{%r3}, {%r4}, %r5, {0, 0}, %r6, {0, 0};";
  EXPECT_EQ(first(scaled), 120);
  EXPECT_THAT(
      refusal(one(scaled), "sm_100"),
      testing::AllOf(testing::StartsWith("'mma.sync.aligned.kind::mxf4."),
                     testing::EndsWith("' is no instruction of sm_100; NVIDIA GeForce RTX 5090 (sm_120) has it")));
}

TEST(PtxTable, ThePageListsEverySpelling) {
  std::ifstream file(std::filesystem::path(KERNELCAST_SOURCE_DIR) / "docs/reference/ptx.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string_view spelling : all_spellings())
    EXPECT_NE(text.str().find("`" + std::string(spelling) + "`"), std::string::npos) << spelling;
  EXPECT_GT(all_spellings().size(), 200U);
}

TEST(PtxTable, Types) {
  for (int i = 1; i < static_cast<int>(Type::count_); ++i) {
    const auto type = static_cast<Type>(i);
    EXPECT_EQ(type_named(name_of(type)), type);
  }
  EXPECT_EQ(bits_of(Type::f16x2), 32);
  EXPECT_TRUE(is_signed(Type::s16) && is_unsigned(Type::u4) && is_float(Type::bf16) && !is_float(Type::b32));
}

}  // namespace
}  // namespace kernelcast::ptx
