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

}  // namespace
}  // namespace kernelcast::frontend
