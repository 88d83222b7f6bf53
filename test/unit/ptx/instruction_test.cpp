// Instructions: modifiers, operands, labels, scopes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ptx/ptx_text.h"

namespace kernelcast::ptx {
namespace {

using testing::ElementsAre;

TEST(PtxInstruction, ModifiersAreDecoded) {
  const Instruction load = one("ld.acquire.gpu.global.ca.L1::no_allocate.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-16];");
  EXPECT_EQ(load.op, Op::ld);
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_THAT(load.modifiers, ElementsAre("acquire", "gpu", "global", "ca", "L1::no_allocate", "v4", "f32"));
  EXPECT_EQ(load.order, Order::acquire);
  EXPECT_EQ(load.scope, Scope::gpu);
  EXPECT_EQ(load.space(), Space::global);
  EXPECT_EQ(load.cache, CacheOperator::ca);
  EXPECT_EQ(load.vector, 4);
  EXPECT_EQ(load.type(), Type::f32);
  EXPECT_TRUE(load.has("L1::no_allocate"));
  EXPECT_FALSE(load.has("nc"));
  EXPECT_EQ(load.operands[0].elements[2].kind, OperandKind::sink);
  EXPECT_EQ(load.operands[1].base, OperandKind::reg);
  EXPECT_EQ(load.operands[1].offset, -16);

  const Instruction compare = one("setp.lo.and.u32 %p1|%p2, %r1, 0xffffffff, !%p3;");
  EXPECT_EQ(compare.comparison, Comparison::lo);
  EXPECT_EQ(compare.combine, Combine::and_);
  EXPECT_EQ(compare.operands[0].kind, OperandKind::pair);
  EXPECT_EQ(compare.operands[2].bits, 0xffffffffU);
  EXPECT_TRUE(compare.operands[3].negated);

  const Instruction multiply = one("mad.hi.s32 %r1, %r2, %r3, -5;");
  EXPECT_EQ(multiply.half, Half::hi);
  EXPECT_EQ(multiply.comparison, Comparison::none);
  EXPECT_EQ(static_cast<std::int64_t>(multiply.operands[3].bits), -5);

  const Instruction convert = one("cvt.rzi.ftz.s32.f32 %r1, %f1;");
  EXPECT_EQ(convert.rounding, Rounding::rzi);
  EXPECT_EQ(convert.type_count, 2);
  EXPECT_EQ(convert.types[0], Type::s32);
  EXPECT_EQ(convert.types[1], Type::f32);

  const Instruction matrix =
      one("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
          "{%f1,%f2,%f3,%f4};");
  EXPECT_EQ(matrix.shape.m, 16);
  EXPECT_EQ(matrix.shape.n, 8);
  EXPECT_EQ(matrix.shape.k, 16);
  EXPECT_EQ(matrix.type_count, 4);
}

TEST(PtxInstruction, SpacesOfCopiesAreInOrder) {
  const Instruction copy =
      one("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%rd1], 64, [%rd2];");
  EXPECT_EQ(copy.op, Op::cp_async_bulk);
  EXPECT_EQ(copy.opcode, "cp.async.bulk");
  EXPECT_EQ(copy.spaces[0], Space::shared_cluster);
  EXPECT_EQ(copy.spaces[1], Space::global);
  EXPECT_EQ(copy.space_count, 2);
  EXPECT_TRUE(copy.has("mbarrier::complete_tx::bytes"));
}

TEST(PtxInstruction, TheLongestSpellingNamesTheOperation) {
  EXPECT_EQ(match_opcode("cp.async.bulk.tensor.2d").op, Op::cp_async_bulk_tensor);
  EXPECT_EQ(match_opcode("cp.async.bulk.commit_group").op, Op::cp_async_bulk_commit_group);
  EXPECT_EQ(match_opcode("cp.async.cg").op, Op::cp_async);
  EXPECT_EQ(match_opcode("bar.cta.sync").op, Op::barrier_sync);
  EXPECT_EQ(match_opcode("barrier.cluster.arrive.relaxed").op, Op::barrier_cluster_arrive);
  EXPECT_EQ(match_opcode("mma.sp::ordered_metadata.sync").op, Op::mma_sp);
  EXPECT_EQ(match_opcode("tcgen05.wait::ld.sync").op, Op::tcgen05_wait);
  EXPECT_EQ(match_opcode("add").op, Op::add);
  EXPECT_EQ(match_opcode("addx.u32").op, Op::unknown);
  EXPECT_EQ(match_opcode("st.bulky").op, Op::st);
}

TEST(PtxInstruction, Operands) {
  const Module module = parse_kernel(
      "mov.u32 %r1, %tid.x; mov.u64 %rd1, smem+4; ld.param.u32 %r2, [n]; mov.f32 %f1, 0f3F800000; mov.f64 %fd1, -1.5; "
      "ld.shared.u32 %r3, [64]; ld.shared.u32 %r3, smem[3]; vadd.u32.u32.u32 %r1, %r2.b1, -%r3.h0; add.u32 %r1, %r2+4, "
      "3; "
      "mov.b32 %r1, WARP_SZ; ld.b32 %r1, [%rd1].unified;");
  const auto& body = module.functions[0].body;
  EXPECT_EQ(special_registers()[body[0].operands[1].index].name, "%tid");
  EXPECT_EQ(body[0].operands[1].component, "x");
  EXPECT_EQ(body[1].operands[1].kind, OperandKind::symbol);
  EXPECT_EQ(body[1].operands[1].symbol.kind, SymbolKind::global);
  EXPECT_EQ(body[1].operands[1].offset, 4);
  EXPECT_EQ(body[2].operands[1].symbol.kind, SymbolKind::param);
  EXPECT_EQ(body[2].operands[1].symbol.index, 1);
  EXPECT_EQ(body[3].operands[1].bits, 0x3f800000U);
  EXPECT_EQ(body[3].operands[1].real_bits, 32);
  EXPECT_EQ(body[4].operands[1].bits, 0xbff8000000000000U);
  EXPECT_EQ(body[5].operands[1].base, OperandKind::integer);
  EXPECT_EQ(body[5].operands[1].bits, 64U);
  EXPECT_EQ(body[6].operands[1].offset, 3);
  EXPECT_EQ(body[7].operands[1].component, "b1");
  EXPECT_TRUE(body[7].operands[2].minus);
  EXPECT_EQ(body[8].operands[1].offset, 4);
  EXPECT_EQ(body[9].operands[1].bits, 32U);
  EXPECT_TRUE(body[10].operands[1].unified);
}

TEST(PtxInstruction, PredicatesAndPlaces) {
  const Module module = parse_module_text(".entry k() {\n.reg .pred p;\n  @!p exit;\n  @p\n  ret;\n}");
  const auto& body = module.functions[0].body;
  EXPECT_EQ(body[0].guard.reg, 0);
  EXPECT_TRUE(body[0].guard.negated);
  EXPECT_FALSE(body[1].guard.negated);
  EXPECT_EQ(body[0].place.line, 6U);
  EXPECT_EQ(body[0].place.column, 7U);
  EXPECT_EQ(body[1].place.line, 8U);
}

TEST(PtxInstruction, LabelsForwardBackwardAndAtTheEnd) {
  const Module module = parse_kernel("first: bra last; second: bra first; bra second; last:");
  const Function& k = module.functions[0];
  ASSERT_EQ(k.labels.size(), 3U);
  EXPECT_EQ(k.labels[k.body[0].operands[0].index].name, "last");
  EXPECT_EQ(k.labels[k.body[1].operands[0].index].at, 0U);
  EXPECT_EQ(k.labels[2].at, 3U);
}

TEST(PtxInstruction, NamesOfInnerScopesAreMadeUnique) {
  const Module module = parse_kernel(
      "{ .reg .b32 %r<2>; .reg .b32 t; loop: add.u32 %r1, t, t; bra loop; }\n"
      "{ .reg .b32 t; loop: add.u32 %r1, t, t; bra loop; bra outer; }\nouter: add.u32 %r1, %r2, %r3;");
  const Function& k = module.functions[0];
  const auto destination = [&](std::size_t i) {
    return register_name(k, static_cast<std::uint32_t>(k.body[i].operands[0].index));
  };
  EXPECT_EQ(destination(0), "%r_s0_1");
  EXPECT_EQ(destination(2), "%r1");
  EXPECT_EQ(destination(5), "%r1");
  EXPECT_NE(k.body[0].operands[1].index, k.body[2].operands[1].index);
  EXPECT_EQ(k.labels[k.body[1].operands[0].index].at, 0U);
  EXPECT_EQ(k.labels[k.body[3].operands[0].index].at, 2U);
  EXPECT_EQ(k.labels[k.body[4].operands[0].index].name, "outer");
}

TEST(PtxInstruction, RegistersByNumberAreOneGroup) {
  const Module module = parse_module_text(
      ".entry k() { .reg .b32 %r<3>, %r2x<2>; .reg .v2 .f32 v; .reg .b16 %r7; add.s32 %r2, %r2x1, %r0; mov.f32 v.x, "
      "v.y; mov.b16 %r7, 1; }");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.registers.size(), 7U);
  EXPECT_EQ(k.body[0].operands[0].index, 2);
  EXPECT_EQ(k.body[0].operands[1].index, 4);
  EXPECT_EQ(k.body[1].operands[0].component, "x");
  EXPECT_EQ(k.registers[5].vector, 2);
  EXPECT_EQ(register_name(k, 4), "%r2x1");
  EXPECT_EQ(k.registers[k.body[2].operands[0].index].type, Type::b16);
}

TEST(PtxInstruction, TablesOfBranchesAndCalls) {
  const Module module = parse_kernel(
      "table: .branchtargets one, two; brx.idx.uni %r1, table; one: two: ret;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;\n.param .b32 r; .param .b64 "
      "p;\n"
      "call (r), %rd1, (p, 4), proto;");
  const Function& k = module.functions[0];
  ASSERT_EQ(k.tables.size(), 2U);
  EXPECT_THAT(k.tables[0].labels, ElementsAre(0, 1));
  EXPECT_EQ(k.body[0].operands[1].kind, OperandKind::table);
  EXPECT_EQ(k.tables[1].kind, TableKind::prototype);
  EXPECT_EQ(k.tables[1].params.size(), 2U);
  EXPECT_TRUE(k.tables[1].noreturn);
  EXPECT_EQ(k.body[2].operands[3].index, 1);
}

TEST(PtxInstruction, UnknownOpcodesAreRead) {
  const Instruction unknown = one("quux.global.f32 %f1, [%rd1], {%r1, %r2};");
  EXPECT_EQ(unknown.op, Op::unknown);
  EXPECT_EQ(unknown.opcode, "quux");
  EXPECT_EQ(unknown.operands.size(), 3U);
}

TEST(PtxInstruction, SpacesWithinAnOpcode) {
  const Instruction load = one("ld .global\n .v2 .f32 {%f1, %f2}, [%rd1];");
  EXPECT_THAT(load.modifiers, ElementsAre("global", "v2", "f32"));
}

}  // namespace
}  // namespace kernelcast::ptx
