// The text of asm statements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "unit/ptx/ptx_text.h"

namespace kernelcast::ptx {
namespace {

using testing::HasSubstr;

FragmentOperand of(Type type, std::string name = "") { return {type, std::move(name), std::nullopt, -1}; }

TEST(PtxFragment, OperandsAreTheFirstRegisters) {
  const std::vector<FragmentOperand> operands{of(Type::f32), of(Type::b64, "where"), {Type::b32, "", "16", -1}};
  const Fragment fragment = parse_fragment("ld.global.f32 %0, [%[where]+%2];", operands, FragmentSyntax::c, "k.cu");
  ASSERT_EQ(fragment.code.body.size(), 1U);
  const Instruction& load = fragment.code.body[0];
  EXPECT_EQ(load.operands[0].index, 0);
  EXPECT_EQ(load.operands[1].index, 1);
  EXPECT_EQ(load.operands[1].offset, 16);
  EXPECT_EQ(fragment.code.registers[0].type, Type::f32);
  EXPECT_EQ(fragment.code.registers[2].type, Type::none);
}

TEST(PtxFragment, ScopesLabelsAndLocalRegisters) {
  const std::vector<FragmentOperand> operands{of(Type::b32), of(Type::b32)};
  const Fragment fragment = parse_fragment(
      "{\n.reg .pred       P1;\nLAB_WAIT_%=:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\n"
      "bra     LAB_WAIT_%=;\nDONE:\n}",
      operands, FragmentSyntax::c, "k.cu");
  const Function& code = fragment.code;
  ASSERT_EQ(code.body.size(), 3U);
  EXPECT_EQ(code.body[0].op, Op::mbarrier_try_wait);
  EXPECT_EQ(code.labels[code.body[2].operands[0].index].at, 0U);
  EXPECT_EQ(code.labels[code.body[1].operands[0].index].at, 3U);
  EXPECT_EQ(code.registers.size(), 3U);
}

TEST(PtxFragment, PercentSignsAndSpecialRegisters) {
  const std::vector<FragmentOperand> operands{of(Type::b32)};
  const Fragment c = parse_fragment("mov.u32 %0, %%laneid;", operands, FragmentSyntax::c, "k.cu");
  EXPECT_EQ(c.code.body[0].operands[1].kind, OperandKind::special);
  const Fragment llvm = parse_fragment("mov.u32 $0, %laneid;", operands, FragmentSyntax::llvm, "k.ll");
  EXPECT_EQ(llvm.code.body[0], c.code.body[0]);
  const Fragment plain = parse_fragment("bar.sync 1;", {}, FragmentSyntax::plain, "k.cu");
  EXPECT_EQ(plain.code.body[0].op, Op::barrier_sync);
}

TEST(PtxFragment, LlvmWritesDollars) {
  const std::vector<FragmentOperand> operands{of(Type::b32), of(Type::b64), {Type::b32, "", std::nullopt, 0}};
  const Fragment fragment = parse_fragment(
      "{ .reg .pred p; setp.ne.b32 p, $2, 0; $$L${:uid}: @p ld.global.b32 ${0:x}, [ $1 + 0 ]; @!p bra $$L${:uid}; }",
      operands, FragmentSyntax::llvm, "k.ll");
  const auto& body = fragment.code.body;
  ASSERT_EQ(body.size(), 3U);
  EXPECT_EQ(body[0].operands[1].index, 0);  // tied to operand 0
  EXPECT_EQ(body[1].operands[0].index, 0);
  EXPECT_EQ(body[2].operands[0].kind, OperandKind::label);
}

TEST(PtxFragment, NamesOfTheProgramAreUnknownSymbols) {
  const std::vector<FragmentOperand> operands{of(Type::b32)};
  const Fragment fragment = parse_fragment("ld.shared.u32 %0, [buffer+8]", operands, FragmentSyntax::c, "k.cu");
  const Operand& address = fragment.code.body[0].operands[1];
  EXPECT_EQ(address.symbol.name, "buffer");
  EXPECT_EQ(address.symbol.kind, SymbolKind::unknown);
  EXPECT_EQ(address.offset, 8);
}

TEST(PtxFragment, SeveralStatementsAndNoneAtAll) {
  EXPECT_TRUE(parse_fragment("", {}, FragmentSyntax::c, "k.cu").code.body.empty());
  EXPECT_TRUE(parse_fragment("// nothing\n", {}, FragmentSyntax::c, "k.cu").code.body.empty());
  const Fragment two =
      parse_fragment("cp.async.commit_group;\n\tcp.async.wait_group 0;\n", {}, FragmentSyntax::c, "k.cu");
  EXPECT_EQ(two.code.body.size(), 2U);
  EXPECT_EQ(two.code.body[1].place.line, 2U);
}

TEST(PtxFragment, ErrorsNameTheSourceAndTheLineOfTheText) {
  const auto message = [](const std::string& text, FragmentSyntax syntax) {
    try {
      const std::vector<FragmentOperand> operands{of(Type::b32)};
      parse_fragment(text, operands, syntax, "k.cu", 12, 5);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("mov.u32 %0, 1;\nmov.u32 %%r7, 1;", FragmentSyntax::c),
            "k.cu:12:5: asm statement, line 2, column 9: register '%r7' is not declared; declare it by .reg");
  EXPECT_THAT(message("mov.u32 %1, 1;", FragmentSyntax::c), HasSubstr("operand 1 of 1; operands count from 0"));
  EXPECT_THAT(message("mov.u32 %x, 1;", FragmentSyntax::c), HasSubstr("write %% for a percent sign"));
  EXPECT_THAT(message("mov.u32 %[x], 1;", FragmentSyntax::c), HasSubstr("no operand is named 'x'"));
  EXPECT_THAT(message("mov.u32 $x, 1;", FragmentSyntax::llvm), HasSubstr("write $$ for a dollar sign"));
  EXPECT_THAT(message("}", FragmentSyntax::c), HasSubstr("'}' closes nothing"));
  EXPECT_THAT(message("{", FragmentSyntax::c), HasSubstr("the brace does not close"));
}

}  // namespace
}  // namespace kernelcast::ptx
