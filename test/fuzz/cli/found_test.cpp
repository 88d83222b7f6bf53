// Inputs that once ended the process or came out as a fault of ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/code/amd/amdgcn.h"
#include "frontend/code/nvidia/ptx_analysis.h"
#include "kernelcast/error.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

KernelProfile profile_of(const std::string& path, const std::string& text, const std::string& target = "sm_70") {
  Source source;
  source.path = path;
  source.text = text;
  FrontendOptions options;
  options.target = target;
  return analyze(source, options).profile;
}

const std::string ptx_head = ".version 8.3\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n";

TEST(Found, FileNumbersInPtxBeyondAllMemory) {
  EXPECT_NO_THROW(frontend::analyze_ptx(ptx_head + "\t.loc\t2147483647 1 1\n\tret;\n}\n\t.file\t2147483647 \"a.cu\"\n",
                                        "k", 70, 0, {"kc0"}));
  EXPECT_NO_THROW(
      frontend::analyze_ptx(ptx_head + "\t.loc\t-7 1 1\n\tret;\n}\n\t.file\t-7 \"a.cu\"\n", "k", 70, 0, {"kc0"}));
}

TEST(Found, FileNumbersInAmdgcnBeyondAllMemory) {
  EXPECT_NO_THROW(frontend::analyze_amdgcn(
      "k:                                      ; @k\n; %bb.0:                                ; %kc0\n"
      "\t.loc\t2147483647 1 1\n\ts_endpgm\n.Lfunc_end0:\n",
      "k", {"kc0"}));
}

TEST(Found, ConversionsWithoutTypes) {
  EXPECT_NO_THROW(frontend::analyze_ptx(
      ptx_head + "\tcvt..u32 %r1, %r2;\n\tcvt.u32. %r1, %r2;\n\tmov.u32 %r1, ;\n\tret;\n}\n", "k", 70, 0, {"kc0"}));
}

TEST(Found, ParameterLoadWithoutAnAddress) {
  EXPECT_NO_THROW(
      frontend::analyze_ptx(ptx_head + "\tld.param.u64 %rd1;\n\tmov.u32 %r1;\n\tret;\n}\n", "k", 70, 0, {"kc0"}));
}

// A function with a loop is offered as a kernel of intermediate code, with or without the note that makes it one.
TEST(Found, IntermediateCodeWithoutNotes) {
  const std::string text =
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "define void @k(ptr %a, i32 %n) {\nentry:\n  br label %body\nbody:\n"
      "  %i = phi i32 [ 0, %entry ], [ %next, %body ]\n  %p = getelementptr float, ptr %a, i32 %i\n"
      "  store volatile float 0.0, ptr %p\n  %next = add nsw i32 %i, 1\n  %more = icmp slt i32 %next, %n\n"
      "  br i1 %more, label %body, label %done\ndone:\n  ret void\n}\n";
  for (const std::string& notes :
       {std::string(), std::string("!nvvm.annotations = !{!0}\n!0 = !{ptr @k, !\"kernel\", i32 33}\n")})
    EXPECT_GE(profile_of("k.ll", text + notes).loops.size(), 1u);
  std::string number = text;
  number.replace(number.find("void"), 4, "i32");
  number.replace(number.find("ret void"), 8, "ret i32 0");
  EXPECT_THROW(profile_of("k.ll", number), UserError);
}

TEST(Found, CollapseBeyondAllNumbers) {
  const KernelProfile p = profile_of("k.c",
                                     "void k(float* a, int n) {\n#pragma omp parallel for collapse(99999999999)\n"
                                     "  for (int i = 0; i < n; ++i) a[i] = 1;\n}\n");
  EXPECT_EQ(p.mapped_axes, 1);
}

// LLVM's instruction combiner may need a second round, which is no reason to end the process.
TEST(Found, CodeThatIsNotCombinedInOneRound) {
  EXPECT_NO_THROW(profile_of("k.cl",
                             "__kernel void k(__global float* A, __global float* B, __global float* X, int n) {\n"
                             "  int i1 = get_global_id(0);\n  if (i1 < n) {\n"
                             "    for (int i2 = 1; i2 < n; i2++) {\n"
                             "      X[i1*n + i2] = X[i1*n + i2] - X[i1*n + (i2-1)] * A[i1*n + i2] / B[i1*n + (i2-1)];\n"
                             "      B[i1*n + i2] = B[i1*n + i2] - A[i1*n + i2] * A[i1*n + i2] / B[i1*n + (i2-1)];\n"
                             "    }\n  }\n}\n"));
}

}  // namespace
}  // namespace kernelcast
