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

/// Divisions of 64-bit integers in PTX of a body, by width: "64", "32", "" (none), "64 32".
std::string widths(const std::string& body) {
  const std::string text = ptx_of(
      "unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;" + body, "unsigned long long");
  std::string found;
  for (const char* width : {"64", "32"})
    for (const char* name : {"div.u", "rem.u", "div.s", "rem.s"})
      if (found.find(width) == std::string::npos && text.find(std::string(name) + width) != std::string::npos)
        found += (found.empty() ? "" : " ") + std::string(width);
  return found;
}

// nvcc 13.0 writes both ways behind a test; one of them runs.
TEST(Divisors, SizesAndIndicesAreDividedAs32Bits) {
  EXPECT_EQ(widths("c[i] = i / c[0];"), "32");
  EXPECT_EQ(widths("c[i] = (i % c[0]) * i / c[1];"), "32");
  EXPECT_EQ(widths("unsigned long long w = c[0], h = c[1]; c[i / w / h % w] = (long long)i / (long long)w;"), "32");
  EXPECT_EQ(widths("for (; i < c[0]; i += gridDim.x) c[i] = i / c[1];"), "32");
}

TEST(Divisors, ProductsAndHashesAreDividedAs64Bits) {
  EXPECT_EQ(widths("unsigned long long m = c[0], x = d[i]; for (int k = 0; k < d[0]; ++k) x = x * x % m; c[i] = x;"),
            "64");
  EXPECT_EQ(widths("c[i] = i % c[0] * c[1] / c[2];"), "64 32");  // a product of two that are not sizes
  EXPECT_EQ(widths("c[i] = (c[i] ^ 0x9e3779b97f4a7c15ull) % c[0];"), "64");
  EXPECT_EQ(widths("c[i] = c[i] * 6364136223846793005ull % c[0];"), "64");
  EXPECT_EQ(widths("unsigned long long x = c[i]; x = x << 23 | x >> 41; c[i] = x % c[0];"), "64");
}

}  // namespace
}  // namespace kernelcast::frontend
