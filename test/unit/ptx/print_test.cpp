// parse, print, parse is the identity.
#include "ptx/print.h"

#include <gtest/gtest.h>

#include <random>

#include "kernelcast/error.h"
#include "unit/ptx/damage.h"
#include "unit/ptx/ptx_text.h"

namespace kernelcast::ptx {
namespace {

void expect_identity(const std::string& text) {
  const Module module = parse(text, "a.ptx");
  const std::string printed = print(module);
  const Module again = parse(printed, "b.ptx");
  EXPECT_TRUE(same(module, again)) << printed.substr(0, 4000);
  EXPECT_EQ(print(again), printed);
}

TEST(PtxPrint, SamplesComeBack) {
  for (const std::string& file : sample_files()) {
    SCOPED_TRACE(file);
    expect_identity(file_text(file));
  }
}

TEST(PtxPrint, CasesWithATrap) {
  expect_identity(module_text(".global .s64 least = -9223372036854775808; .global .u64 most = 0xffffffffffffffff;"));
  expect_identity(module_text(
      ".global .f32 f[2][2] = {{1.0}, {0.0, 0f80000000}}; .global .u8 e[3] = {0}; .global .u8 none[2] = {};"));
  expect_identity(module_text(".global .v2 .u32 v[2] = {{1, 2}, {3}};"));
  expect_identity(module_text(".func f(); .entry k() { call f; ret; } .func g() { ret; } .func f() { call g; ret; }"));
  expect_identity(module_text(".func f(); .global .u64 pointer = f; .func f() { ret; } .alias g, f;"));
  expect_identity(
      module_text(".func (.reg .b32 r) f(.reg .b32 x, .param .b64 y) { .reg .b32 z; add.u32 r, x, z; ret; }"));
  expect_identity(kernel_text("{ .reg .pred p; { .reg .pred p; @p ret; } @p ret; } .reg .pred p; @p ret;"));
  expect_identity(
      kernel_text("mov.f64 %fd1, 1.0; mov.f32 %f1, -0.5; mov.u32 %r1, 4294967295; ld.b32 %r1, [0xffffffffffffff00];"));
  expect_identity(
      kernel_text(".pragma \"nounroll\"; L: .pragma \"used_bytes_mask 7\"; T: .branchtargets L; brx.idx %r1, T;"));
  expect_identity(module_text(
      ".visible .func .attribute(.unified(1, 2)) f() .noreturn { trap; }\n.global .attribute(.managed) .u32 m;"));
  expect_identity(module_text(
      ".entry k() { .loc 1 5 1\n.loc 1 6 1, function_name $s+4, inlined_at 1 5 1\n.loc 1 7 1, function_name $s, "
      "inlined_at 1 6 1\nret;\n.loc 1 5 1\nret; }\n.func f() { .loc 1 5 1\nret; }"));
}

TEST(PtxPrint, OneInstruction) {
  const Module module = parse_kernel("@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1 + 8 - 4];");
  EXPECT_EQ(print(module.functions[0].body[0], module.functions[0]), "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+4];");
}

// 10^5 damaged instructions and some damaged modules: a module or an Error, and what is read comes back.
TEST(PtxPrint, DamagedTextsEndInAModuleOrAnError) {
  std::mt19937 random(1);
  const std::vector<std::string> samples = sample_instructions();
  std::size_t read = 0, tried = 0;
  const auto survives = [&](const std::string& text) {
    ++tried;
    try {
      const Module module = parse(text, "m.ptx");
      ++read;
      if (read % 16 == 0) {
        EXPECT_TRUE(same(module, parse(print(module), "n.ptx"))) << text;
      }
    } catch (const Error&) {
    } catch (const std::exception& e) {
      FAIL() << e.what() << "\n" << text;
    }
  };
  for (int i = 0; i < 100000; ++i) {
    const std::string head =
        ".version 9.0 .shared .b8 tile[64]; .entry k(.param .u64 a) { .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .pred "
        "%p<9>; ";
    survives(head + damaged(samples[random() % samples.size()], random) + " $L_loop: }");
  }
  EXPECT_GT(read, tried / 20);
  const std::string whole = file_text("ampere.ptx");
  for (int i = 0; i < 500; ++i) survives(damaged(whole, random));
}

}  // namespace
}  // namespace kernelcast::ptx
