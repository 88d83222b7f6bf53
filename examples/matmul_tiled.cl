// Matrix product through local memory: a work-group loads one tile of A and one of B, then every work-item reads each
// loaded value TILE times from local memory. Compare with matmul_naive.cl.
//
//   kernelcast predict examples/matmul_tiled.cl --device gtx280,v100 --global 1024,1024 --block 16,16 --arg n=1024

#ifndef TILE
#define TILE 16
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul_tiled(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float a_tile[TILE][TILE];
  __local float b_tile[TILE][TILE];
  int x = get_local_id(0);
  int y = get_local_id(1);
  int column = get_group_id(0) * TILE + x;
  int row = get_group_id(1) * TILE + y;
  float sum = 0.0f;
  for (int tile = 0; tile < n / TILE; ++tile) {
    a_tile[y][x] = a[row * n + tile * TILE + x];
    b_tile[y][x] = b[(tile * TILE + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) {
      sum += a_tile[y][k] * b_tile[k][x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
