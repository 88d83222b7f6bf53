// matmul_naive.cl as CUDA: the forecast must not depend on the language.
//
//   kernelcast predict examples/matmul_naive.cu --device gtx280,v100 --grid 64,64 --block 16,16 --arg n=1024

__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    sum += a[row * n + k] * b[k * n + column];
  }
  c[row * n + column] = sum;
}
