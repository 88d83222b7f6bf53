#include "frontend/code/nvidia/ptx_text.h"

#include <gmock/gmock.h>

#include "kernelcast/error.h"

namespace kernelcast::frontend {
namespace {

constexpr std::string_view text = R"(
.version 8.3
.target sm_70
.extern .shared .align 4 .b8 dynamic[];
.shared .align 16 .b8 table[40];
.visible .entry other(
	.param .u64 other_param_0
)
{
	ret;
}
.visible .entry k(
	.param .u64 k_param_0,
	.param .u32 k_param_1
)
{
	.local .align 8 .b8 	__local_depot0[24];
	.reg .pred 	%p<3>;
	.reg .b32 	%r<9>;
	// demoted variable
	.shared .align 8 .b8 tile[100];
$L__func_begin0:
	.loc	1 3 0                           // dir/a.cu:3:0
// %bb.0:                               // %kc0
	ld.param.u64 	%rd1, [k_param_0];
	.loc	1 0 5                           // dir/a.cu:0:5
	mov.u32 	%r1, %tid.x;
$L__tmp0:
	.loc	2 7 11                          // /x/b.h:7:11
	// begin inline asm
	{ .reg .pred q; setp.ne.s32 q, %r1, 0; @q bra L1; mov.u32 %r2, 1; L1: }
	// end inline asm
	@!%p1 bra 	$L__BB1_2;
	bra.uni 	$L__BB1_1;
$L__BB1_1:                              // %kc1
                                        // =>This Inner Loop Header: Depth=1
	.pragma "nounroll";
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1+16];
	{ // callseq 0, 0
	.param .b32 param0;
	st.param.b32 	[param0+0], %r1;
	call.uni (retval0), 
	foo, 
	(
	param0
	);
	} // callseq 0
$L__BB1_2:                              // %kc1.kc2_crit_edge
	ret;
}
	.file	1 "dir" "a.cu"
	.file	2 "/x/b.h"
)";

TEST(PtxText, FindsBlocksWithTheirNames) {
  const auto k = parse_ptx(text, "k").code;
  ASSERT_EQ(k.blocks.size(), 4U);
  EXPECT_EQ(k.blocks[0].ir_name, "kc0");
  EXPECT_EQ(k.blocks[1].label, "L1");
  EXPECT_EQ(k.blocks[1].ir_name, "");
  EXPECT_EQ(k.blocks[2].ir_name, "kc1");
  EXPECT_EQ(k.blocks[3].ir_name, "kc1.kc2_crit_edge");
}

TEST(PtxText, ReadsEveryInstruction) {
  std::vector<std::string> opcodes;
  for (const auto& i : parse_ptx(text, "k").code.instructions) opcodes.emplace_back(i.opcode);
  EXPECT_THAT(opcodes, testing::ElementsAre("ld.param.u64", "mov.u32", "setp.ne.s32", "bra", "mov.u32", "bra",
                                            "bra.uni", "ld.global.v4.f32", "st.param.b32", "call.uni", "ret"));
}

TEST(PtxText, SplitsOperandsAndGuards) {
  const auto parsed = parse_ptx(text, "k");
  const auto& code = parsed.code.instructions;
  EXPECT_THAT(code[7].operands, testing::ElementsAre("{%f1, %f2, %f3, %f4}", "[%rd1+16]"));
  EXPECT_EQ(code[5].guard, "!%p1");
  EXPECT_EQ(code[3].guard, "q");
  EXPECT_THAT(code[9].operands, testing::SizeIs(3));
  EXPECT_TRUE(code[2].inlined);
  EXPECT_FALSE(code[5].inlined);
}

TEST(PtxText, KnowsLinesAndFillsLineZero) {
  const auto parsed = parse_ptx(text, "k");
  const auto& code = parsed.code.instructions;
  EXPECT_EQ(code[0].line, 3);
  EXPECT_EQ(code[1].line, 7) << "line 0 takes the next line of the block, or the one before";
  EXPECT_EQ(code[2].line, 7);
  EXPECT_EQ(parsed.code.files.at(1), "dir/a.cu");
  EXPECT_EQ(parsed.code.files.at(2), "/x/b.h");
  EXPECT_EQ(path_in_comment("; a b.cl:5:54 @[ c.h:1:2 ]"), "a b.cl");
  EXPECT_EQ(path_in_comment("// /x/y.cu:5:54"), "/x/y.cu");
  EXPECT_EQ(path_in_comment(""), "");
}

TEST(PtxText, AddsUpMemory) {
  const auto k = parse_ptx(text, "k");
  EXPECT_EQ(k.shared_bytes, 40 + 100);
  EXPECT_EQ(k.stack_bytes, 24);
}

// Larger than any GPU has must come out as that, and not as little.
TEST(PtxText, SizesBeyondAllMemoryStayBeyondIt) {
  const auto shared = [](const std::string& size) {
    const std::string ptx = ".shared .align 4 .b8 s[" + size + "];\n.visible .entry k()\n{\n\tret;\n}\n";
    return parse_ptx(ptx, "k").shared_bytes;
  };
  EXPECT_EQ(shared("2147483648"), std::int64_t{1} << 31);
  EXPECT_EQ(shared("8589934592"), std::int64_t{1} << 33);
  EXPECT_GE(shared("9223372036854775807"), std::int64_t{1} << 62);
  EXPECT_GE(shared("99999999999999999999999"), std::int64_t{1} << 62);
}

TEST(PtxText, RefusesTextWithoutTheKernel) {
  EXPECT_THROW(parse_ptx(text, "missing"), InternalError);
  EXPECT_THROW(parse_ptx(text.substr(0, text.find("$L__BB1_2:")), "k"), InternalError);
}

}  // namespace
}  // namespace kernelcast::frontend
