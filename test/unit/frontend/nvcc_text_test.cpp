#include "frontend/source/nvcc_text.h"

#include <gtest/gtest.h>

namespace kernelcast::frontend {
namespace {

TEST(NvccText, AlignmentStandsBeforeTheAddressSpace) {
  EXPECT_EQ(as_clang_spells("extern __shared__ alignas(alignof(float4)) char s[];"),
            "extern alignas(alignof(float4)) __shared__ char s[];");
  EXPECT_EQ(as_clang_spells("__shared__\n  alignas(16) int a;"), "alignas(16)\n  __shared__ int a;");
  for (const char* text : {"alignas(16) __shared__ int a;", "my__shared__ alignas(16)", "__shared__ int alignas_(1);",
                           "// __shared__ alignas(16)", "\"__shared__ alignas(16)\"", "__shared__ alignas(16"})
    EXPECT_EQ(as_clang_spells(text), text);
}

TEST(NvccText, SharedMemoryWithASizeIsNoDeclaration) {
  EXPECT_EQ(as_clang_spells("extern __shared__ Tile<64, 2> s;"), "       __shared__ Tile<64, 2> s;");
  EXPECT_EQ(as_clang_spells("extern\n__shared__ int a[N];"), "      \n__shared__ int a[N];");
  EXPECT_EQ(as_clang_spells("extern __shared__ alignas(8) int a[4][2];"), "       alignas(8) __shared__ int a[4][2];");
  for (const char* text :
       {"extern __shared__ int a[];", "extern __shared__ int a[ ] ;", "extern __shared__ int a[][4];",
        "extern int __shared__ a;", "my_extern __shared__ int a;", "extern __shared__ int a"})
    EXPECT_EQ(as_clang_spells(text), text);
}

TEST(NvccText, RegistersByName) {
  EXPECT_EQ(as_clang_spells(R"(asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));)"),
            R"(asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));)");
  EXPECT_EQ(as_clang_spells(R"(asm("a %tid.x" "b %laneid" :: "r"(x));)"),
            R"(asm("a %%tid.x" "b %%laneid" :: "r"(x));)");
  for (const char* text :
       {R"(asm("mov.u32 %0, %%laneid;" : "=r"(x));)", R"(asm("mov %laneid, 1;");)", R"(asm("%h0 %[name]" :: "r"(x));)",
        R"(printf("%globaltimer : %d", 3);)", R"(asm("%tid" :)", "asm", "my_asm(\"%tid\" :)"})
    EXPECT_EQ(as_clang_spells(text), text);
}

TEST(NvccText, OperandsWithoutComma) {
  EXPECT_EQ(as_clang_spells(R"(asm("st [%1], %0;" ::"r"(a) "l"(f(b)) : "memory");)"),
            R"(asm("st [%1], %0;" ::"r"(a) ,"l"(f(b)) : "memory");)");
}

TEST(NvccText, APragmaThatIsAMacroIsAnOperator) {
  EXPECT_EQ(as_clang_spells("#define UNROLL #pragma unroll\nint a;"), "#define UNROLL _Pragma(\"unroll\")\nint a;");
  EXPECT_EQ(as_clang_spells("#  define W  # pragma message \"a\\b\"  // why\n"),
            "#  define W  _Pragma(\"message \\\"a\\\\b\\\"\")  // why\n");
  for (const char* text : {"#pragma unroll\n", "#define TEXT(x) #pragma x\n", "#define A 1\n#pragma once\n",
                           "// #define UNROLL #pragma unroll\n"})
    EXPECT_EQ(as_clang_spells(text), text);
}

TEST(NvccText, BracketsOfALaunchMayStandApart) {
  EXPECT_EQ(as_clang_spells("k << < n >> 1, 64 >> >(x);"), "k <<<  n >> 1, 64 >>> (x);");
  EXPECT_EQ(as_clang_spells("k<<\n<n, 64>>\n>(x);"), "k<<<\nn, 64>>>\n(x);");
  for (const char* text : {"std::ostream& operator<< <>(std::ostream&, const A<B<C>> &);", "A<B<C<int>> > x;",
                           "a << b < c;", "k<<<n, 64>>>(x); A<B<C<int>> > y;", "\"k << < n\""})
    EXPECT_EQ(as_clang_spells(text), text);
}

}  // namespace
}  // namespace kernelcast::frontend
