// Values of the type bfloat, executed, against the same computation by hand on their bits.
#include <gtest/gtest.h>

#include "executed_output.h"

namespace kernelcast {
namespace {

const char* const text = R"(
__device__ float wide(unsigned short b) { return __uint_as_float((unsigned)b << 16); }
__device__ unsigned short narrow(float f) {
  unsigned u = __float_as_uint(f);
  return f != f ? 0x7fff : (u + 0x7fff + ((u >> 16) & 1)) >> 16;
}
__global__ void typed(const float* in, float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  __bf16 x = (__bf16)in[i], y = (__bf16)(in[i + 128] * 0.02f);
  __bf16 s = x;
  for (int k = 0; k < n; ++k) {
    __bf16 product = s * y;
    s = product - x;
    if (s > y) s = -s;
    s += (__bf16)k;
  }
  out[i] = i % 2 ? (float)s : (float)(int)s;
}
__global__ void by_hand(const float* in, float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  unsigned short x = narrow(in[i]), y = narrow(in[i + 128] * 0.02f);
  unsigned short s = x;
  for (int k = 0; k < n; ++k) {
    unsigned short product = narrow(wide(s) * wide(y));
    s = narrow(wide(product) - wide(x));
    if (wide(s) > wide(y)) s ^= 0x8000;
    s = narrow(wide(s) + wide(narrow((float)k)));
  }
  out[i] = i % 2 ? wide(s) : (float)(int)wide(s);
}
)";

TEST(Bfloat, computes_as_its_bits_by_hand) {
  Source source;
  source.path = "test.cu";
  source.text = text;
  const auto typed = executed_output(source, "typed");
  ASSERT_EQ(typed.size(), 128 * sizeof(float));
  EXPECT_EQ(typed, executed_output(source, "by_hand"));
  EXPECT_NE(typed, std::vector<unsigned char>(typed.size(), 0));
}

const char* const header = R"(
#include <cuda_bf16.h>
__global__ void operations(const float* in, float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  __nv_bfloat16 x = __float2bfloat16(in[i]), y = __float2bfloat16(in[i + 128] * 0.02f), s = x;
  for (int k = 0; k < n; ++k) {
    s = __hsub(__hmul(s, y), x);
    s = __hmax(s, -y) + __hmin(x, __float2bfloat16((float)k));
  }
  __nv_bfloat162 p(s, y), q(x, s);
  p = __hadd2(p, __hmul2(q, p));
  p = __hmax2(p, __hsub2(q, p));
  out[i] = (float)p.x + (float)p.y * 1024 + (s > y ? 1 : 0);
}
)";

// From sm_80 on sums are fused with 1, from sm_90 on they have an instruction; before, integers round.
TEST(Bfloat, operations_of_the_header_agree_between_targets) {
  Source source;
  source.path = "test.cu";
  source.text = header;
  const auto by_integers = executed_output(source, "operations", "sm_75");
  EXPECT_EQ(executed_output(source, "operations", "sm_80"), by_integers);
  EXPECT_EQ(executed_output(source, "operations", "sm_90"), by_integers);
}

}  // namespace
}  // namespace kernelcast
