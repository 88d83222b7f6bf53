// Transpose through a square tile of local memory, so that both the load and the store are coalesced. PAD widens the
// tile's rows by one word, which removes the bank conflicts of reading it by columns: try -D PAD=0.
//
//   kernelcast explain examples/transpose.cl --device gtx280 --global 2048,2048 --block 16,16 --arg n=2048

#define TILE 16
#ifndef PAD
#define PAD 1
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void transpose(__global const float* in, __global float* out, int n) {
  __local float tile[TILE][TILE + PAD];
  int x = get_local_id(0);
  int y = get_local_id(1);
  int left = get_group_id(0) * TILE;
  int top = get_group_id(1) * TILE;
  tile[y][x] = in[(top + y) * n + left + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(left + y) * n + top + x] = tile[x][y];
}
