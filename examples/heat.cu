// The heat equation on a square: the launches of the program are found in its host code, which is not run.
//
//   kernelcast predict examples/heat.cu --device a100 --argv "4096 100"

#include <cuda_runtime.h>

#include <cstdlib>
#include <utility>

__global__ void start(float* u, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) u[y * n + x] = y == 0 ? 100.0f : 0.0f;
}

__global__ void step(const float* u, float* next, int n, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  next[i] = u[i] + rate * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4 * u[i]);
}

__global__ void largest_change(const float* u, const float* next, int* largest, int size) {
  __shared__ float part[256];
  float found = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) found = fmaxf(found, fabsf(next[i] - u[i]));
  part[threadIdx.x] = found;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(largest, __float_as_int(part[0]));
}

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1024, steps = argc > 2 ? std::atoi(argv[2]) : 10;
  float *u, *next;
  int* largest;
  cudaMalloc(&u, n * n * sizeof(float));
  cudaMalloc(&next, n * n * sizeof(float));
  cudaMalloc(&largest, sizeof(int));
  cudaMemset(largest, 0, sizeof(int));
  const dim3 block(32, 8), grid(ceil_div(n, block.x), ceil_div(n, block.y));
  start<<<grid, block>>>(u, n);
  start<<<grid, block>>>(next, n);
  for (int k = 0; k < steps; ++k) {
    step<<<grid, block>>>(u, next, n, 0.2f);
    if (k % 10 == 9) largest_change<<<432, 256>>>(u, next, largest, n * n);
    std::swap(u, next);
  }
  cudaDeviceSynchronize();
  return 0;
}
