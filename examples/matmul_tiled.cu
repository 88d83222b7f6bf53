// matmul_tiled.cl as CUDA, with the tile as a template parameter. The kernel is named by its template arguments.
//
//   kernelcast predict examples/matmul_tiled.cu --device v100,mi100 --grid 64,64 --block 16,16 --arg n=1024

template <int tile>
__global__ void __launch_bounds__(tile * tile) matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  int x = threadIdx.x;
  int y = threadIdx.y;
  int column = blockIdx.x * tile + x;
  int row = blockIdx.y * tile + y;
  float sum = 0.0f;
  for (int t = 0; t < n / tile; ++t) {
    a_tile[y][x] = a[row * n + t * tile + x];
    b_tile[y][x] = b[(t * tile + y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) {
      sum += a_tile[y][k] * b_tile[k][x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

template __global__ void matmul_tiled<16>(const float*, const float*, float*, int);
