// Arithmetic and functions of 16-bit and 8-bit floating point: which instructions the headers become.
#include <gtest/gtest.h>

#include <string>

#include "unit/frontend/ptx_support.h"

namespace kernelcast::frontend {
namespace {

std::string with_header(const std::string& header, const std::string& statement, const std::string& target) {
  Source s;
  s.path = "test.cu";
  s.text = "#include <" + header +
           ">\nextern \"C\" __global__ void k(const unsigned short* a, unsigned short* c, const float* f) "
           "{ int i = threadIdx.x; " +
           statement + " }\n";
  return code_of_source(s, "k", target).assembly;
}

struct NarrowCase {
  const char *header, *statement, *target, *present, *absent;
};

TEST(NarrowFloats, HeadersBecomeTheInstructionsOfTheTarget) {
  const std::string bf = "((__nv_bfloat16*)c)[i] = ((__nv_bfloat16*)a)[i] ", pair = "((__nv_bfloat162*)c)[i] = ";
  const std::string sum = bf + "+ ((__nv_bfloat16*)a)[i + 9];", product = bf + "* ((__nv_bfloat16*)a)[i + 9];";
  const std::string two = pair + "__hadd2(((__nv_bfloat162*)a)[i], ((__nv_bfloat162*)a)[i + 9]);";
  const std::string round = "((__nv_bfloat16*)c)[i] = __float2bfloat16(f[i]);";
  const std::string eight = "((__nv_fp8_e4m3*)c)[i] = __nv_fp8_e4m3(f[i]);",
                    wide = "((__half2*)c)[i] = (__half2)((__nv_fp8x2_e5m2*)a)[i];";
  const NarrowCase cases[] = {
      {"cuda_bf16.h", sum.c_str(), "sm_75", ".f32", ".bf16"},
      {"cuda_bf16.h", sum.c_str(), "sm_80", "fma.rn.bf16", ".f32"},
      {"cuda_bf16.h", sum.c_str(), "sm_90", "add.bf16", ".f32"},
      {"cuda_bf16.h", product.c_str(), "sm_86", "fma.rn.bf16", ".f32"},
      {"cuda_bf16.h", two.c_str(), "sm_80", "fma.rn.bf16x2", ".f32"},
      {"cuda_bf16.h", two.c_str(), "sm_90", "add.bf16x2", ".f32"},
      {"cuda_bf16.h", round.c_str(), "sm_80", "cvt.rn.bf16.f32", "shr"},
      {"cuda_fp8.h", eight.c_str(), "sm_80", "shr", "e4m3"},
      {"cuda_fp8.h", eight.c_str(), "sm_89", "cvt.rn.satfinite.e4m3x2.f32", "shr"},
      {"cuda_fp8.h", wide.c_str(), "sm_90", "cvt.rn.f16x2.e5m2x2", "selp"},
      {"cuda_bf16.h", "((__nv_bfloat16*)c)[i] = hexp(((__nv_bfloat16*)a)[i]);", "sm_80", "exp.bf16", "ex2"},
      {"cuda_fp16.h", "((__half2*)c)[i] = __hltu2(((__half2*)a)[i], ((__half2*)a)[i + 9]);", "sm_75",
       "set.ltu.f16x2.f16x2", "selp"},
      {"cuda_bf16.h", "((unsigned*)c)[i] = __heq2_mask(((__nv_bfloat162*)a)[i], ((__nv_bfloat162*)a)[i + 9]);", "sm_90",
       "set.eq.u32.bf16x2", "selp"},
      {"cuda_fp16.h", "((__half2*)c)[i] = __hadd2_sat(((__half2*)a)[i], ((__half2*)a)[i + 9]);", "sm_75",
       "add.sat.f16x2", "max"},
      {"cuda_fp16.h", "((__half*)c)[i] = __float2half_rd(f[i]);", "sm_75", "cvt.rm.f16.f32", "setp"},
      {"cuda_bf16.h", "((__nv_bfloat16*)c)[i] = __ll2bfloat16_rz(i);", "sm_90", "cvt.rz.bf16.s64", "setp"},
      {"cuda_fp16.h", "((__half*)c)[i] = __hfma_relu(((__half*)a)[i], ((__half*)a)[i + 9], ((__half*)a)[i + 19]);",
       "sm_80", "fma.rn.relu.f16", "max"},
      {"cuda_fp16.h", "((__half*)c)[i] = htanh_approx(((__half*)a)[i]);", "sm_75", "tanh.approx.f16", "f32"},
      {"cuda_fp8.h", "((__nv_fp8x2_e4m3*)c)[i] = __nv_fp8x2_e4m3(((__half2*)a)[i]);", "sm_90",
       "cvt.rn.satfinite.e4m3x2.f16x2", "f32"},
      {"cuda_fp16.h", "atomicAdd((__half2*)c, ((__half2*)a)[i]);", "sm_75", "atom.add.noftz.f16x2", "cas"},
      {"cuda_fp16.h", "((__half*)c)[i] = hlog(((__half*)a)[i]);", "sm_75", "log.f16", "lg2"},
      {"cuda_fp16.h", "((__half*)c)[i] = ((__half*)a)[i] / ((__half*)a)[i + 9];", "sm_75", "div.f16", "div.rn"}};
  for (const NarrowCase& c : cases) {
    const std::string ptx = with_header(c.header, c.statement, c.target);
    EXPECT_NE(ptx.find(c.present), std::string::npos) << c.statement << " on " << c.target << "\n" << ptx;
    EXPECT_EQ(ptx.find(c.absent), std::string::npos) << c.statement << " on " << c.target << "\n" << ptx;
  }
}

}  // namespace
}  // namespace kernelcast::frontend
