// Matrix product straight from global memory: every work-item reads a row of A and a column of B.
// Neighbouring work-items share the row (one address for the warp) and read neighbouring columns (coalesced).
//
//   kernelcast predict examples/matmul_naive.cl --device gtx280,v100 --global 1024,1024 --block 16,16 --arg n=1024

__kernel void matmul_naive(__global const float* a, __global const float* b, __global float* c, int n) {
  int column = get_global_id(0);
  int row = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    sum += a[row * n + k] * b[k * n + column];
  }
  c[row * n + column] = sum;
}
