// Eight-bit floating point: the conversions of sm_90, executed, against those by integers of earlier devices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "executed_output.h"

namespace kernelcast {
namespace {

// Every byte widened, and values of all sizes narrowed: what the two lowest halves of `in` round to, and beyond.
const char* const conversions = R"(
#include <cuda_fp8.h>
__device__ unsigned bits(float f) { return f != f ? 0x7fc00000u : __float_as_uint(f); }
template <typename One, typename Two> __device__ void convert(const float* in, float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float size = ldexpf(in[i], i % 21 - 14);
  if (i == 5) size = 1e9f;
  if (i == 6) size = -0.0f;
  if (i == 7) size = __int_as_float(0x7fffffff);
  One one(size);
  Two two(make_float2(size, in[i + 128] * n));
  One low, high;
  low.__x = 2 * i;
  high.__x = 2 * i + 1;
  float2 wide = (float2)two;
  unsigned sum = one.__x + 256 * two.__x + (bits((float)low) ^ bits((float)high) * 7);
  out[i] = __uint_as_float((sum + bits(wide.x) * 3 + bits(wide.y) * 5 + bits((float)(__half)low) * 11) >> 2);
}
__global__ void e4m3(const float* in, float* out, int n) { convert<__nv_fp8_e4m3, __nv_fp8x2_e4m3>(in, out, n); }
__global__ void e5m2(const float* in, float* out, int n) { convert<__nv_fp8_e5m2, __nv_fp8x2_e5m2>(in, out, n); }
)";

std::vector<unsigned char> output_on(const char* kernel, const char* target) {
  Source source;
  source.path = "test.cu";
  source.text = conversions;
  return executed_output(source, kernel, target);
}

TEST(Fp8, InstructionsAndIntegersConvertAlike) {
  for (const char* kernel : {"e4m3", "e5m2"}) {
    const auto by_instruction = output_on(kernel, "sm_90"), by_integers = output_on(kernel, "sm_80");
    ASSERT_EQ(by_instruction.size(), 128 * sizeof(float));
    for (std::size_t i = 0; i < 128; ++i) {
      std::uint32_t a = 0, b = 0;
      std::memcpy(&a, &by_instruction[4 * i], 4);
      std::memcpy(&b, &by_integers[4 * i], 4);
      EXPECT_EQ(a, b) << kernel << " lane " << i;
    }
  }
}

}  // namespace
}  // namespace kernelcast
