// Which lanes a branch sends the same way: labelled conditions.
#include <gtest/gtest.h>

#include "kernelcast/loops.h"

namespace kernelcast {
namespace {

LaneShape shape_of(const std::string& condition) {
  Source source;
  source.path = "shape.cu";
  source.text =
      "__global__ void k(const int* __restrict__ in, int* __restrict__ out, int n) {\n"
      "  __shared__ int sum[256];\n  int tid = threadIdx.x, id = blockIdx.x * blockDim.x + tid, x = in[id], t = 0;\n"
      "  for (int s = 1; s < n; s *= 2) {\n    int index = 2 * s * tid, pair = tid ^ s;\n    if (" +
      condition + ") t += s; else t ^= s;\n    sum[tid] = t + index + pair + x;\n  }\n  out[id] = t;\n}\n";
  const std::vector<DivergentLoop> loops = divergent_loops(source, {});
  EXPECT_EQ(loops.size(), 1U) << condition;
  return loops.empty() ? LaneShape::data : loops[0].shape;
}

TEST(LaneShape, NeighboursWhereTheIndexIsComparedWithABound) {
  for (const char* c : {"tid < s", "s > threadIdx.x", "id + 3 <= n - s", "!(tid >= s)", "index < blockDim.x",
                        "tid < s && id < n", "tid == 0", "(tid >> 2) * 4 < s", "tid / s < 2"})
    EXPECT_EQ(shape_of(c), LaneShape::neighbours) << c;
}

TEST(LaneShape, ScatteredWhereTheIndexIsTakenApart) {
  for (const char* c : {"tid % (2 * s) == 0", "(tid & (2 * s - 1)) == 0", "pair > tid", "(tid & s) != 0",
                        "tid * tid % 7 < s", "tid < s || tid % 3 == 0", "index % 3 < s"})
    EXPECT_EQ(shape_of(c), LaneShape::scattered) << c;
}

TEST(LaneShape, DataWhereMemoryDecides) {
  for (const char* c : {"in[id + s] > 0", "x < s", "tid < s && in[id] > 0", "sum[tid] > sum[0]", "tid < x"})
    EXPECT_EQ(shape_of(c), LaneShape::data) << c;
}

}  // namespace
}  // namespace kernelcast
