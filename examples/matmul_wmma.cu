// A product of half matrices on the tensor cores through nvcuda::wmma: four warps, each 32 x 32 of a block's 64 x 64. Fragments stay in
// registers; the rows of both tiles in shared memory are padded, so that no bank is asked twice. On GeForce boards products that accumulate in
// FP32 run at half the rate; the floor says what each device needs at least.
//
//   kernelcast predict examples/matmul_wmma.cu --device a100,rtx4090 --grid 64,64 --block 128 --arg n=4096
#include <mma.h>

using namespace nvcuda;

__global__ void __launch_bounds__(128) matmul_wmma(const half* a, const half* b, float* c, int n) {
  __shared__ half a_tile[64][40];
  __shared__ half b_tile[32][72];
  int warp_row = threadIdx.x / 64 * 32;
  int warp_column = threadIdx.x / 32 % 2 * 32;
  int row = blockIdx.y * 64;
  int column = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
  for (int k = 0; k < n; k += 32) {
    for (int i = threadIdx.x; i < 256; i += 128) {  // 8 halves a thread
      int x = i % 4 * 8, y = i / 4;
      *(int4*)&a_tile[y][x] = *(const int4*)&a[(row + y) * n + k + x];
      int u = i % 8 * 8, v = i / 8;
      *(int4*)&b_tile[v][u] = *(const int4*)&b[(k + v) * n + column + u];
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 32; step += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(x[i], &a_tile[warp_row + i * 16][step], 40);
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(y[i], &b_tile[step][warp_column + i * 16], 72);
      for (int i = 0; i < 4; ++i) wmma::mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    wmma::store_matrix_sync(&c[(row + warp_row + i / 2 * 16) * n + column + warp_column + i % 2 * 16], sum[i / 2][i % 2], n,
                            wmma::mem_row_major);
}
