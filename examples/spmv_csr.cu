// Sparse matrix times vector, CSR, one thread a row: row lengths and columns come from data, so trip counts and the
// addresses of x do too. Blocks are executed to find out; --buffer says how large the arrays are and what they hold.
//
//   kernelcast explain examples/spmv_csr.cu --device v100 --grid 256 --block 256 --arg rows=65536 \
//     --buffer "start=65537:sorted(0,1048576)" --buffer "column=1048576:uniform(0,65536)" --buffer value=1048576 \
//     --buffer x=65536 --buffer y=65536

__global__ void spmv_csr(int rows, const int* start, const int* column, const float* value, const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = start[row]; k < start[row + 1]; ++k) {
    sum += value[k] * x[column[k]];
  }
  y[row] = sum;
}
