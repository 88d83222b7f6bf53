// Remainders in PTX, as NVRTC 11.8, 12.4 and 13.0 leave them.
#include <gtest/gtest.h>

#include <string>

#include "unit/frontend/ptx_support.h"

namespace kernelcast::frontend {
namespace {

bool divides(const std::string& body) { return ptx_of(body).find("rem.") != std::string::npos; }

std::string sum_by(const std::string& loop, const std::string& divisor) {
  return loop + " { if (threadIdx.x % (" + divisor + ") == 0) c[s] += a[s + threadIdx.x]; __syncthreads(); }";
}

TEST(Divisors, APowerOfTwoByWayOfALoopIsDividedBy) {
  EXPECT_TRUE(divides(sum_by("for (unsigned s = 1; s < n; s *= 2)", "2 * s")));
  EXPECT_TRUE(divides(sum_by("for (int s = 1; s < n; s *= 2)", "2 * s")));
  EXPECT_TRUE(divides("c[threadIdx.x % n] = a[threadIdx.x];"));
}

TEST(Divisors, WhatNvidiasCompilersSeeIsAMask) {
  EXPECT_FALSE(divides(sum_by("for (unsigned s = 1; s < 256; s *= 2)", "2 * s")));  // unrolled: constants
  EXPECT_FALSE(divides(sum_by("for (unsigned s = 1024; s > 0; s >>= 1)", "s")));
  EXPECT_FALSE(divides("unsigned s = 1u << n; c[threadIdx.x] = a[threadIdx.x % s];"));
  EXPECT_FALSE(divides("c[threadIdx.x % 32] = a[threadIdx.x];"));
}

}  // namespace
}  // namespace kernelcast::frontend
