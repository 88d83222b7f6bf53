// Files with host code: it is passed over, it instantiates templates, and its errors do not matter; errors of device
// code do.
#include <gmock/gmock.h>

#include "frontend/source/host_code.h"
#include "kernelcast/error.h"
#include "unit/frontend/compile_support.h"

namespace kernelcast::frontend {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kTemplate = "template <int N, class T> __global__ void scale(T* a) { a[threadIdx.x] *= N; }\n";

TEST(HostCode, LaunchInstantiatesATemplate) {
  EXPECT_THAT(names(compiled("k.cu", kTemplate + "int main() { float* a = 0; scale<4><<<1, 32>>>(a); }")),
              ElementsAre("scale<4, float>(float*)"));
}

TEST(HostCode, LaunchInsideAHostTemplateInstantiatesToo) {
  const std::string text = kTemplate +
                           "template <class T> void run(T* a) { dim3 grid(1); scale<8, T><<<grid, 32>>>(a); }\nint "
                           "main() { run((double*)0); }";
  EXPECT_THAT(names(compiled("k.cu", text)), ElementsAre("scale<8, double>(double*)"));
}

TEST(HostCode, LaunchInsideAMacroInstantiatesToo) {
  const std::string text =
      kTemplate + "#define LAUNCH(k, ...) k<<<1, 32>>>(__VA_ARGS__)\nint main() { int* a = 0; LAUNCH(scale<2>, a); }";
  EXPECT_THAT(names(compiled("k.cu", text)), ElementsAre("scale<2, int>(int*)"));
}

TEST(HostCode, AskingForATemplateInstantiatesIt) {
  for (const std::string name : {"scale<256, float>", "scale<256,float>(float*)", "scale< 256 , float >"}) {
    const CompiledUnit unit = compiled("k.cu", kTemplate, "sm_70", name);
    EXPECT_THAT(names(unit), ElementsAre("scale<256, float>(float*)")) << name;
  }
  EXPECT_THAT(names(compiled("k.cu", "namespace ns { " + kTemplate + " }", "gfx90a", "ns::scale<1, int>")),
              ElementsAre("ns::scale<1, int>(int*)"));
}

TEST(HostCode, TemplatesAloneAreNamed) {
  try {
    compiled("k.cu", kTemplate);
    FAIL() << "templates without an instance taken for kernels";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel 'scale<...>'"));
  }
}

TEST(HostCode, ConstantsOfTheHostInterfaceMayBecomeArgumentsOfTemplates) {
  const std::string text =
      "template <class T> void reserve(T** p) { cudaMemAdvise(*p, 4, cudaMemAdviseSetReadMostly, cudaCpuDeviceId); }\n"
      "__global__ void k(float* a) { a[0] = 1; }\nint main() { float* a; reserve(&a); k<<<1, 32>>>(a); }\n";
  EXPECT_THAT(names(compiled("k.cu", text)), ElementsAre("k(float*)"));
}

TEST(HostCode, ErrorsInItArePassedOver) {
  const std::string text =
      "#include <no_such_library.h>\nNoSuchType global;\n__global__ void k(float* a) { a[0] = 1; }\n" + kTemplate +
      "int main() {\n  NoSuchHandle handle; handle.create();\n  float* a = allocate<float>(3);\n  scale<4><<<1, "
      "32>>>((float*)0);\n  return nothing;\n}\n"
      "struct Driver : Missing::Base { void run() { unknown(); } };\n";
  const CompiledUnit unit = compiled("k.cu", text);
  EXPECT_THAT(names(unit), ElementsAre("k(float*)", "scale<4, float>(float*)"));
  EXPECT_THAT(unit.notes, Contains(HasSubstr("no_such_library.h")));
  EXPECT_THAT(unit.notes, Contains(HasSubstr("errors in code that the kernel does not use")));
}

TEST(HostCode, CppLibraryInHostCodeIsFine) {
  const std::string text =
      "#include <cmath>\n#include <vector>\n#include <cstdio>\n#include <algorithm>\n__global__ void k(float* a) { "
      "a[0] = std::sqrt(a[1]) + std::max(a[2], a[3]) + std::pow(a[4], 3.0f); }\n"
      "int main() { std::vector<float> v(3); std::sort(v.begin(), v.end()); k<<<1, 1>>>(v.data()); std::printf(\"%f\", "
      "v[0]); }";
  for (const std::string target : {"sm_70", "gfx90a"}) {
    const CompiledUnit unit = compiled("k.cu", text, target);
    EXPECT_THAT(names(unit), ElementsAre("k(float*)"));
    EXPECT_THAT(unit.notes, IsEmpty());
    EXPECT_THAT(module_text(unit), HasSubstr("@_Z4sqrtf(")) << target;
  }
}

TEST(HostCode, AnErrorInAKernelIsTheUsersUnlessAnotherIsWanted) {
  const std::string text =
      "__global__ void good(float* a) { a[0] = 1; }\n__global__ void bad(float* a) { a[0] = nothing; }\n";
  EXPECT_THROW(compiled("k.cu", text), UserError);
  EXPECT_THROW(compiled("k.cu", text, "sm_70", "bad"), UserError);
  EXPECT_THAT(compiled("k.cu", text, "sm_70", "good").notes, SizeIs(1));
}

TEST(HostCode, AnErrorInADeviceFunctionMattersWhereItIsCalled) {
  const std::string text =
      "__device__ float broken(float x) { return x + nothing; }\n__device__ float middle(float x) { return broken(x); "
      "}\n"
      "__global__ void calls(float* a) { a[0] = middle(a[1]); }\n__global__ void does_not(float* a) { a[0] = 1; }\n";
  EXPECT_THROW(compiled("k.cu", text, "sm_70", "calls"), UserError);
  EXPECT_THROW(compiled("k.cu", text), UserError);
  EXPECT_NO_THROW(compiled("k.cu", text, "sm_70", "does_not"));
}

TEST(HostCode, AKernelThatUsesABrokenDeclarationIsBroken) {
  const std::string text =
      "__constant__ int table[NOTHING];\n__global__ void uses(int* a) { a[0] = table[1]; }\n__global__ void "
      "does_not(int* a) { a[0] = 1; }\n";
  EXPECT_THROW(compiled("k.cu", text, "sm_70", "uses"), UserError);
  EXPECT_NO_THROW(compiled("k.cu", text, "sm_70", "does_not"));
}

TEST(HostText, LaunchesAreFoundOutsideCommentsAndStrings) {
  EXPECT_THAT(find_launches("void f() { /* k<<<1,1>>>() */ g(\"<<<\"); }").open_braces, IsEmpty());
  EXPECT_THAT(find_launches("void f() { if (x) { k<<<1, 2>>>(a); } }").open_braces, ElementsAre(9, 18));
  EXPECT_THAT(find_launches("void f() { cudaLaunchKernel(k); }").open_braces, ElementsAre(9));
  EXPECT_TRUE(find_launches("#define RUN k<<<1, 1>>>()\n").outside_braces);
  EXPECT_FALSE(find_launches("auto s = R\"x(<<<)x\"; int n = 1'000;").outside_braces);
}

TEST(HostText, DeclarationAroundAnOffset) {
  const std::string text = "int a; namespace n { void f() { x; } __global__ void g() { y; } } int b;";
  EXPECT_THAT(std::string(declaration_around(text, text.find("x;"))), HasSubstr("void f()"));
  EXPECT_THAT(std::string(declaration_around(text, text.find("y;"))), HasSubstr("__global__ void g()"));
  EXPECT_THAT(std::string(declaration_around(text, text.find("y;"))), testing::Not(HasSubstr("void f()")));
  EXPECT_EQ(declaration_around(text, 2), "int a;");
}

TEST(HostText, PragmasAreRenamedAndLinesStay) {
  EXPECT_EQ(rename_loop_pragmas("#pragma omp for\n # pragma acc loop\n#pragma once\n// #pragma omp x\n#pragma omp2"),
            "#pragma kernelcast_omp for\n # pragma kernelcast_acc loop\n#pragma once\n// #pragma omp x\n#pragma omp2");
}

}  // namespace
}  // namespace kernelcast::frontend
