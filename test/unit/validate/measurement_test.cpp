#include "validate/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast::validate::measurement_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class F>
std::string failure(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Kernels, AllThatALineCanSay) {
  const auto kernels = read_kernels(
      "k.csv",
      "id,language,repo,path,entry,wrapper,fixed_defines,fills,cache_state,flags_argv,"
      "tensor_maps\n"
      "a,cuda,,a.cu,run,,N=4;M,x*=zero;*=normal,warm,-use_fast_math -DK=2 -O3 -Iinc -I inc/more,A=64x8:2;B=4:1\n"
      "b,opencl,owner/name,src/b.cl,go,,,,,-cl-std=CL1.2,\n"
      "c,,owner/name,src/c.cu,go,wrap/c.cu,,,,,\n");
  const KernelEntry& a = kernels.at("a");
  EXPECT_EQ(a.path, "a.cu");
  EXPECT_EQ(a.entry, "run");
  EXPECT_EQ(a.language, Language::cuda);
  EXPECT_THAT(a.defines, ElementsAre("N=4", "M", "K=2"));
  EXPECT_THAT(a.include_dirs, ElementsAre("inc", "inc/more"));
  EXPECT_THAT(a.fills, ElementsAre(std::pair("x*", "zero"), std::pair("*", "normal")));
  EXPECT_TRUE(a.fast_math);
  EXPECT_EQ(a.cache_state, "warm");
  EXPECT_THAT(a.tensor_maps, ElementsAre(TensorBox{"A", 1024, 128}, TensorBox{"B", 4, 4}));
  EXPECT_EQ(kernels.at("b").path, "owner+name/src/b.cl");
  EXPECT_EQ(kernels.at("b").standard, "CL1.2");
  EXPECT_EQ(kernels.at("c").path, "wrap/c.cu");
}

TEST(Kernels, Mistakes) {
  const auto text = [](const char* lines) {
    return failure([&] { read_kernels("k.csv", std::string("id,language,path,entry,flags_argv\n") + lines); });
  };
  EXPECT_THAT(text("a,fortran,a.f,run,\n"), HasSubstr("k.csv:2: column language: \"fortran\""));
  EXPECT_THAT(text("a,cuda,a.cu,run,\na,cuda,b.cu,run,\n"),
              HasSubstr("k.csv:3: kernel \"a\" stands already in k.csv:2"));
  EXPECT_THAT(text("a,cuda,a.cu,run,-maxrregcount=32\n"), HasSubstr("column flags_argv: \"-maxrregcount=32\""));
  EXPECT_THAT(text("a,cuda,a.cu,run,-I\n"), HasSubstr("column flags_argv: -I without a folder"));
  EXPECT_THAT(failure([] { read_kernels("k.csv", "id,path,tensor_maps\na,a.cu,A=64x300:2\n"); }),
              HasSubstr("k.csv:2: column tensor_maps: tensor_map A=64x300:2: expected NAME=DIM[xDIM...]:BYTES"));
  EXPECT_THAT(text(",cuda,a.cu,run,\n"), HasSubstr("k.csv:2: column id: is empty"));
  EXPECT_THAT(failure([] { read_kernels("k.csv", "id,languag,path\na,cuda,a.cu\n"); }),
              HasSubstr("unknown column \"languag\"; did you mean \"language\""));
}

constexpr const char* heading =
    "kernel_id,gpu,defines,grid_x,grid_y,block_x,dyn_smem_bytes,args,buffers,buffer_elem_bytes,time_ms,flags,status\n";

TEST(Rows, AllThatALineCanSay) {
  const auto rows = read_rows(
      "r.csv", std::string(heading) + "k,v100,A=1;B=x,64,2,128,16,n=5;f=0.5,p=10;q=20,p=4;q=1,1.5,replicate;odd,\n" +
                   "k,v100,,1,,32,,,,,,,runtime\n");
  ASSERT_EQ(rows.size(), 2U);
  const Measurement& m = rows[0];
  EXPECT_EQ(m.place, "r.csv:2");
  EXPECT_THAT(m.defines, ElementsAre("A=1", "B=x"));
  EXPECT_EQ(m.launch.grid, (Dim3{64, 2, 1}));
  EXPECT_EQ(m.launch.block, (Dim3{128, 1, 1}));
  EXPECT_EQ(m.launch.dynamic_shared_bytes, 16);
  EXPECT_EQ(std::get<std::int64_t>(m.launch.args.at("n")), 5);
  EXPECT_EQ(std::get<double>(m.launch.args.at("f")), 0.5);
  EXPECT_EQ(m.launch.buffers.at("q").elements, 20);
  EXPECT_EQ(m.element_bytes.at("p"), 4);
  EXPECT_DOUBLE_EQ(*m.measured_s, 1.5e-3);
  EXPECT_TRUE(is_excluded(m));
  EXPECT_FALSE(rows[1].measured_s);
  EXPECT_EQ(rows[1].status, "runtime");
  EXPECT_FALSE(is_excluded(rows[1]));
}

TEST(Rows, Mistakes) {
  const auto text = [](const std::string& line) { return failure([&] { read_rows("r.csv", heading + line + "\n"); }); };
  EXPECT_THAT(text("k,v100,,0,,32,,,,,1,,"), HasSubstr("r.csv:2: column grid_x: \"0\""));
  EXPECT_THAT(text("k,v100,,,,32,,,,,1,,"), HasSubstr("column grid_x: is empty"));
  EXPECT_THAT(text("k,v100,,1,,32,,,,,fast,,"), HasSubstr("column time_ms: \"fast\""));
  EXPECT_THAT(text("k,v100,,1,,32,,,,,-1,,"), HasSubstr("column time_ms: is not positive"));
  EXPECT_THAT(text("k,v100,,1,,32,,n=x,,,1,,"), HasSubstr("column args: n=x: expected a number"));
  EXPECT_THAT(text("k,v100,,1,,32,,,p=0,,1,,"), HasSubstr("column buffers: p=0"));
  EXPECT_THAT(text("k,v100,A,1,,32,,,,,1,,"), HasSubstr("column defines: \"A\" is not NAME=VALUE"));
  EXPECT_THAT(failure([] { read_rows("r.csv", "kernel_id,gpu,grid_x,block_x,time_m\n"); }),
              HasSubstr("r.csv:1: unknown column \"time_m\"; did you mean \"time_ms\""));
  EXPECT_THAT(failure([] { read_rows("r.csv", "kernel_id,gpu,block_x,time_ms\nk,v100,1,1\n"); }),
              HasSubstr("column grid_x: there is no such column"));
}

TEST(Rows, AProblemIsArgumentsAndBytes) {
  const auto rows = read_rows("r.csv", std::string(heading) +
                                           "k,v100,V=1,1,,32,,n=5,p=8,p=4,1,,\n"
                                           "k,v100,V=4,1,,32,,n=5,p=2,p=16,1,,\n"
                                           "k,v100,V=1,1,,32,,n=6,p=8,p=4,1,,\n");
  EXPECT_EQ(problem_key(rows[0]), problem_key(rows[1]));  // 32 bytes, whatever the vector type
  EXPECT_NE(problem_key(rows[0]), problem_key(rows[2]));
}

TEST(Rows, Wildcards) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("conv_*", "conv_milo"));
  EXPECT_TRUE(matches("*shift*s", "the_shifts"));
  EXPECT_FALSE(matches("conv", "conv_milo"));
  EXPECT_FALSE(matches("*x", "y"));
}

}  // namespace
}  // namespace kernelcast::validate::measurement_test
