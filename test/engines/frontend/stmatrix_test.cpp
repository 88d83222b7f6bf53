// stmatrix and movmatrix against the plain loops that say what they mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "engines/frontend/executed_pipeline.h"

namespace kernelcast {
namespace {

using ::testing::IsEmpty;

std::uint16_t half_word(const std::vector<unsigned char>& bytes, int n) {
  std::uint16_t h = 0;
  std::memcpy(&h, bytes.data() + 2 * n, 2);
  return h;
}

/// Each lane has words of its own; rows of a matrix stand 24 halves apart.
std::string stores_matrices(int matrices, bool transposed) {
  const std::string x = std::to_string(matrices);
  std::string list, operands;
  for (int m = 0; m < matrices; ++m) {
    list += (m ? ",%" : "%") + std::to_string(1 + m);
    operands += std::string(m ? ", " : "") + "\"r\"(in[threadIdx.x * 4 + " + std::to_string(m) + "])";
  }
  return R"(
__global__ void kernel(const unsigned* in, unsigned* out, int n) {
  __shared__ __align__(16) unsigned tile[32 * 12];
  int l = threadIdx.x;
  for (int k = l; k < 32 * 12; k += 32) tile[k] = 0;
  __syncthreads();
  unsigned at = (unsigned)__cvta_generic_to_shared(tile) + l * 48;
  asm volatile("stmatrix.sync.aligned.m8n8.x)" +
         x + (transposed ? ".trans" : "") + ".shared.b16 [%0], {" + list + "};\" :: \"r\"(at), " + operands +
         R"( : "memory");
  __syncthreads();
  for (int k = l; k < 32 * 12; k += 32) out[k] = tile[k];
})";
}

TEST(Stmatrix, writes_rows_and_columns_as_the_plain_loop_does) {
  for (const bool transposed : {false, true})
    for (const int matrices : {1, 2, 4})
      for (const bool independent : {false, true}) {
        const Execution e =
            executed(stores_matrices(matrices, transposed), 32, independent, 1, "uniform(0,4294967295)");
        EXPECT_THAT(text_of(e.findings), IsEmpty());
        const auto &in = e.buffers.at("in"), &out = e.buffers.at("out");
        std::vector<std::uint16_t> expected(32 * 24, 0);
        for (int m = 0; m < matrices; ++m)
          for (int row = 0; row < 8; ++row)
            for (int column = 0; column < 8; ++column) {
              const int lane = row * 4 + column / 2, half = column % 2;
              const int to_row = transposed ? column : row, to_column = transposed ? row : column;
              expected[static_cast<std::size_t>((8 * m + to_row) * 24 + to_column)] =
                  half_word(in, (lane * 4 + m) * 2 + half);
            }
        for (int k = 0; k < 32 * 24; ++k)
          ASSERT_EQ(half_word(out, k), expected[static_cast<std::size_t>(k)]) << matrices << transposed << " at " << k;
      }
}

TEST(Movmatrix, transposes) {
  for (const bool independent : {false, true}) {
    const Execution e = executed(R"(
__global__ void kernel(const unsigned* in, unsigned* out, int n) {
  unsigned r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(in[threadIdx.x]));
  out[threadIdx.x] = r;
})",
                                 32, independent, 1, "uniform(0,4294967295)");
    const auto &in = e.buffers.at("in"), &out = e.buffers.at("out");
    for (int row = 0; row < 8; ++row)
      for (int column = 0; column < 8; ++column)
        ASSERT_EQ(half_word(out, row * 8 + column), half_word(in, column * 8 + row)) << row << ", " << column;
  }
}

}  // namespace
}  // namespace kernelcast
