// Declarations: module, variables, functions, directives.
#include "ptx/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ptx/ptx_text.h"

namespace kernelcast::ptx {
namespace {

using testing::ElementsAre;

TEST(PtxModule, HeadOfAModule) {
  const Module module = parse(".version 8.7 .target sm_80, debug .address_size 64 .file 3 \"a.cu\", 123, 456", "k.ptx");
  EXPECT_EQ(module.version_major, 8);
  EXPECT_EQ(module.version_minor, 7);
  EXPECT_THAT(module.targets, ElementsAre("sm_80", "debug"));
  ASSERT_EQ(module.files.size(), 1U);
  EXPECT_EQ(module.files[0].number, 3U);
  EXPECT_EQ(module.files[0].path, "a.cu");
}

TEST(PtxModule, VariablesWithSizes) {
  const Module module = parse_module_text(
      ".extern .shared .align 16 .b8 dynamic[];\n.global .v4 .f32 quads[2][8];\n.const .u16 half;\n.visible .global "
      ".b8 a[3], b;");
  ASSERT_EQ(module.globals.size(), 5U);
  EXPECT_TRUE(module.globals[0].unsized);
  EXPECT_EQ(module.globals[0].linkage, Linkage::extern_);
  EXPECT_EQ(bytes_of(module.globals[0]), 0U);
  EXPECT_EQ(alignment_of(module.globals[0]), 16U);
  EXPECT_EQ(element_bytes(module.globals[1]), 16U);
  EXPECT_EQ(bytes_of(module.globals[1]), 256U);
  EXPECT_EQ(alignment_of(module.globals[1]), 16U);
  EXPECT_EQ(bytes_of(module.globals[2]), 2U);
  EXPECT_EQ(module.globals[2].space, Space::constant);
  EXPECT_EQ(bytes_of(module.globals[3]), 3U);
  EXPECT_EQ(bytes_of(module.globals[4]), 1U);
  EXPECT_EQ(module.globals[4].linkage, Linkage::visible);
}

TEST(PtxModule, InitializersAreFlatAndPadded) {
  const Module module = parse_module_text(
      ".global .u32 m[2][3] = {{1, 2}, {4, 5, 6}};\n.global .f32 f[] = {1.0, 0f40000000, 3, 0.0};\n.global .s8 s = "
      "-1;\n"
      ".global .f64 d = 1.5;\n.global .u64 p[2] = {generic(m)+8, m};\n.global .b8 t[8] = {0xff(m), 0xff00(m)};");
  EXPECT_THAT(module.globals[0].values, ElementsAre(1, 2, 0, 4, 5, 6));
  EXPECT_THAT(module.globals[1].values, ElementsAre(0x3f800000, 0x40000000, 0x40400000));
  EXPECT_THAT(module.globals[1].dimensions, ElementsAre(4));
  EXPECT_THAT(module.globals[2].values, ElementsAre(0xff));
  EXPECT_THAT(module.globals[3].values, ElementsAre(0x3ff8000000000000));
  ASSERT_EQ(module.globals[4].addresses.size(), 2U);
  EXPECT_TRUE(module.globals[4].addresses[0].generic);
  EXPECT_EQ(module.globals[4].addresses[0].offset, 8);
  EXPECT_EQ(module.globals[4].addresses[0].symbol.name, "m");
  EXPECT_EQ(module.globals[4].addresses[1].element, 1U);
  EXPECT_EQ(module.globals[5].addresses[1].mask, 0xff00U);
}

TEST(PtxModule, ConstantExpressions) {
  const auto value = [](const std::string& text) {
    const Module module = parse_module_text(".global .u64 x = " + text + ";");
    return module.globals[0].values.empty() ? 0 : module.globals[0].values[0];
  };
  EXPECT_EQ(value("2 + 3 * 4 - 1"), 13U);
  EXPECT_EQ(value("(2 + 3) * 4 % 7"), 6U);
  EXPECT_EQ(value("-7 / 2"), static_cast<std::uint64_t>(-3));
  EXPECT_EQ(value("1 << 4 | 3 & 2 ^ 1"), 19U);
  EXPECT_EQ(value("~0 >> 63"), ~std::uint64_t{0});
  EXPECT_EQ(value("~0U >> 63"), 1U);
  EXPECT_EQ(value("(5 > 3) + (5 <= 3) + (2 == 2) + (2 != 2) + !7 + (1 && 0) + (1 || 0)"), 3U);
  EXPECT_EQ(value("0 ? 4 : 1 ? 5 : 6"), 5U);
  EXPECT_EQ(value("0x10 + 010 + 0b11 + WARP_SZ"), 16U + 8U + 3U + 32U);
  EXPECT_EQ(value("(.s64) -1 < 0"), 1U);
  EXPECT_EQ(value("(.u64) -1 < 0"), 0U);
}

TEST(PtxModule, ParametersAndDirectives) {
  const Module module = parse_module_text(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24], .param .f32 x)\n"
      ".maxntid 128, 2, 1\n.minnctapersm 3\n.maxnreg 64\n.reqnctapercluster 2\n.explicitcluster\n.maxclusterrank "
      "8\n.pragma \"p\";\n{ ret; }\n"
      ".entry other()\n.reqntid 32\n{ ret; }");
  const Function& k = module.functions[0];
  EXPECT_TRUE(k.is_entry);
  EXPECT_EQ(k.linkage, Linkage::visible);
  ASSERT_EQ(k.params.size(), 3U);
  EXPECT_TRUE(k.params[0].is_pointer);
  EXPECT_EQ(k.params[0].pointer_space, Space::global);
  EXPECT_EQ(k.params[0].pointer_alignment, 16U);
  EXPECT_EQ(bytes_of(k.params[1]), 24U);
  EXPECT_EQ(alignment_of(k.params[1]), 8U);
  EXPECT_THAT(k.directives.maxntid, ElementsAre(128, 2, 1));
  EXPECT_THAT(k.directives.reqnctapercluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(k.directives.minnctapersm, 3U);
  EXPECT_EQ(k.directives.maxnreg, 64U);
  EXPECT_EQ(k.directives.maxclusterrank, 8U);
  EXPECT_TRUE(k.directives.explicitcluster);
  EXPECT_THAT(k.directives.pragmas, ElementsAre("p"));
  EXPECT_THAT(module.functions[1].directives.reqntid, ElementsAre(32, 1, 1));
}

TEST(PtxModule, ADefinitionTakesItsDeclarationsPlace) {
  const Module module = parse_module_text(
      ".func (.param .b32 r) f(.param .b32 x);\n.entry k() { .param .b32 p, q; call (q), f, (p); ret; }\n"
      ".func (.param .b32 r) f(.param .b32 x) { ret; }");
  ASSERT_EQ(module.functions.size(), 2U);
  EXPECT_EQ(module.functions[0].name, "f");
  EXPECT_TRUE(module.functions[0].has_body);
  const Instruction& call = module.functions[1].body[0];
  ASSERT_EQ(call.operands.size(), 3U);
  EXPECT_EQ(call.operands[0].kind, OperandKind::list);
  EXPECT_EQ(call.operands[1].symbol.kind, SymbolKind::function);
  EXPECT_EQ(call.operands[1].symbol.index, 0);
  EXPECT_EQ(call.operands[2].elements[0].symbol.name, "p");
  EXPECT_EQ(find_function(module, "k"), &module.functions[1]);
  EXPECT_EQ(find_function(module, "none"), nullptr);
}

TEST(PtxModule, LocationsWithTheCallsThatWereInlined) {
  const Module module = parse_module_text(
      ".entry k() {\n.loc 1 9 1\n.loc 1 5 3\n.loc 2 7 1, function_name $L__s0, inlined_at 1 5 3\nexit;\nexit;\n.loc 1 "
      "6 0\nret;\n}\n"
      ".section .debug_str\n{\n$L__s0:\n.b8 104,105,0\n}");
  const auto& body = module.functions[0].body;
  ASSERT_EQ(module.locations.size(), 3U);  // that of line 9 holds for nothing
  EXPECT_EQ(body[0].location, 1);
  EXPECT_EQ(body[1].location, 1);
  EXPECT_EQ(module.locations[1].line, 7U);
  EXPECT_EQ(module.locations[1].inlined_at, 0);
  EXPECT_EQ(module.locations[0].line, 5U);
  EXPECT_EQ(module.locations[2].line, 6U);
  EXPECT_EQ(module.locations[1].function, "$L__s0");
  ASSERT_EQ(module.strings.size(), 1U);
  EXPECT_EQ(module.strings[0].text, "hi");
}

TEST(PtxModule, SectionsAndOldDebugLinesArePassedOver) {
  const Module module = parse_module_text(
      "@@DWARF .section .x\n.section .debug_info { .b8 1 .b64 .debug_abbrev { \"}\" } }\n.entry k() { ret; }");
  EXPECT_EQ(module.functions.size(), 1U);
}

}  // namespace
}  // namespace kernelcast::ptx
