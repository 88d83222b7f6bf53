// Which kernel a name means.
#include <gmock/gmock.h>

#include "kernelcast/error.h"
#include "unit/frontend/compile_support.h"

namespace kernelcast::frontend {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<KernelEntry> kKernels = {{"_Z6reduceILi256EEvPKf", "reduce<256>(float const*)", "reduce", 3},
                                           {"_Z6reduceILi128EEvPKf", "reduce<128>(float const*)", "reduce", 3},
                                           {"_ZN2ns4scanEPf", "ns::scan(float*)", "scan", 9},
                                           {"_ZN5other4scanEPf", "other::scan(float*)", "scan", 12},
                                           {"saxpy", "saxpy", "saxpy", 20},
                                           {"_Z3mixILj4EjEvv", "mix<4u, unsigned int>()", "mix", 30}};

std::string picked(const std::string& name) { return pick_kernel(kKernels, name).symbol; }

std::string refusal(const std::string& name) {
  try {
    pick_kernel(kKernels, name);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(PickKernel, TakesEverySpelling) {
  EXPECT_EQ(picked("saxpy"), "saxpy");
  EXPECT_EQ(picked("_ZN2ns4scanEPf"), "_ZN2ns4scanEPf");
  EXPECT_EQ(picked("ns::scan"), "_ZN2ns4scanEPf");
  EXPECT_EQ(picked("::ns::scan(float *)"), "_ZN2ns4scanEPf");
  EXPECT_EQ(picked("reduce<256>"), "_Z6reduceILi256EEvPKf");
  EXPECT_EQ(picked("reduce< 128 >(float const *)"), "_Z6reduceILi128EEvPKf");
  EXPECT_EQ(picked("mix<4, unsigned>"), "_Z3mixILj4EjEvv");
  EXPECT_EQ(picked("mix"), "_Z3mixILj4EjEvv");
}

TEST(PickKernel, NamesTheCandidatesWhenItCannotDecide) {
  EXPECT_THAT(refusal("scan"),
              AllOf(HasSubstr("ambiguous"), HasSubstr("ns::scan(float*)"), HasSubstr("other::scan(float*)")));
  EXPECT_THAT(refusal("reduce"), AllOf(HasSubstr("reduce<256>"), HasSubstr("reduce<128>")));
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("6 kernels"), HasSubstr("kernel"), HasSubstr("saxpy")));
  EXPECT_THAT(refusal("sxapy"), HasSubstr("nearest are: saxpy"));
  EXPECT_THROW(pick_kernel({}, ""), UserError);
  EXPECT_THROW(pick_kernel({}, "k"), UserError);
}

TEST(ListKernels, GivesLinesAndPlainNames) {
  const CompiledUnit unit = compiled(
      "k.cu",
      "namespace a { namespace { __global__ void hidden(int* p) { *p = 1; } } }\nextern \"C\" __global__ void "
      "plain(int* p) { *p = 2; }\n"
      "template <class T> struct Box { T v; };\ntemplate <class T> __global__ void typed(Box<T>* p) { p->v = 3; }\n"
      "template __global__ void typed<float>(Box<float>*);\nint main() { a::hidden<<<1, 1>>>(0); }\n");
  const auto kernels = list_kernels(*unit.module, unit.language);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].plain, "hidden");
  EXPECT_EQ(kernels[0].line, 1);
  EXPECT_EQ(kernels[1].symbol, "plain");
  EXPECT_EQ(kernels[1].line, 2);
  EXPECT_EQ(kernels[2].demangled, "typed<float>(Box<float>*)");
  EXPECT_EQ(&pick_kernel(kernels, "typed"), &kernels[2]);
  EXPECT_EQ(&pick_kernel(kernels, "void typed<float>(Box<float>*)"), &kernels[2]);
  EXPECT_EQ(&pick_kernel(kernels, "a::hidden"), &kernels[0]);
}

// Of a constant of an enumeration the symbol has the number.
TEST(ListKernels, InstancesHaveTheNamesOfTheSource) {
  const CompiledUnit unit =
      compiled("k.cu",
               "enum class Mode { slow, fast };\nnamespace n { struct Op {}; }\n"
               "template <Mode M, class T = float, int N = 4> __global__ void f(T* p) { p[N] = M == Mode::fast; }\n"
               "template <class T> __global__ void g(T*) {}\n"
               "void host(float* p, int* i, n::Op* o) {\n"
               "  f<Mode::fast><<<1, 1>>>(p); f<Mode::slow, int><<<1, 1>>>(i); g<n::Op><<<1, 1>>>(o); }\n");
  const auto kernels = list_kernels(*unit.module, unit.language);
  ASSERT_EQ(kernels.size(), 3u);
  const auto symbol = [&](const char* name) { return pick_kernel(kernels, name).demangled; };
  EXPECT_EQ(symbol("f<Mode::fast, float, 4>"), "f<(Mode)1, float, 4>(float*)");
  EXPECT_EQ(symbol("f<(Mode)1, float, 4>"), "f<(Mode)1, float, 4>(float*)");
  EXPECT_EQ(symbol("f<Mode::slow, int, 4>"), "f<(Mode)0, int, 4>(int*)");
  EXPECT_EQ(symbol("g<n::Op>"), "g<n::Op>(n::Op*)");
  EXPECT_THROW(pick_kernel(kernels, "f<Mode::slow, float, 4>"), UserError);
}

// A target of code generation stands in for what LLVM does not know.
TEST(Architecture, IsTheDevicesNotTheTargets) {
  const auto number = [](const std::string& capability) {
    Source s = source("k.cu", "__global__ void k(int* p) { p[0] = __CUDA_ARCH__; }");
    s.capability = capability;
    const std::string text = module_text(compile_unit(s, "sm_90", 60, ""));
    const std::size_t at = text.find("store i32 ");
    return at == std::string::npos ? "" : text.substr(at + 10, text.find(',', at) - at - 10);
  };
  EXPECT_EQ(number(""), "900");
  EXPECT_EQ(number("sm_100"), "1000");
  EXPECT_EQ(number("sm_120"), "1200");
}

TEST(Architecture, HasTheFeaturesOfItsOwn) {
  const auto compiles = [](const std::string& condition, const std::string& target, const std::string& capability) {
    Source s = source("k.cu", "#if " + condition + "\n__global__ void k(int* p) { p[0] = 1; }\n#endif\n");
    s.capability = capability;
    try {
      return !names(compile_unit(s, target, 60, "")).empty();
    } catch (const UserError&) {
      return false;  // no kernel
    }
  };
  EXPECT_TRUE(compiles("defined(__CUDA_ARCH_FEAT_SM90_ALL)", "sm_90", ""));
  EXPECT_FALSE(compiles("defined(__CUDA_ARCH_FEAT_SM90_ALL)", "sm_80", ""));
  EXPECT_FALSE(compiles("defined(__CUDA_ARCH_FEAT_SM90_ALL)", "sm_90", "sm_100"));
  EXPECT_TRUE(compiles("__CUDA_ARCH_SPECIFIC__ == 1000 && __CUDACC_VER_MINOR__ >= 8", "sm_90", "sm_100"));
}

}  // namespace
}  // namespace kernelcast::frontend
