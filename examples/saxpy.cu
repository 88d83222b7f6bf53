// A whole CUDA program: the kernel is found among the host code, which is not run and needs no toolkit.
//
//   kernelcast predict examples/saxpy.cu --device v100,rtx3080 --grid 4096 --block 256 --arg n=1048576

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a * x[i] + y[i];
  }
}

#define CHECK(call)                                                           \
  do {                                                                        \
    cudaError_t status = (call);                                              \
    if (status != cudaSuccess) {                                              \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));    \
      std::exit(1);                                                           \
    }                                                                         \
  } while (0)

int main() {
  const int n = 1 << 20;
  std::vector<float> x(n, 1.0f), y(n, 2.0f);
  float *x_device = nullptr, *y_device = nullptr;
  CHECK(cudaMalloc(&x_device, n * sizeof(float)));
  CHECK(cudaMalloc(&y_device, n * sizeof(float)));
  CHECK(cudaMemcpy(x_device, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(y_device, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  saxpy<<<(n + 255) / 256, 256>>>(n, 3.0f, x_device, y_device);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(y.data(), y_device, n * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("y[0] = %g\n", static_cast<double>(y[0]));
  CHECK(cudaFree(x_device));
  CHECK(cudaFree(y_device));
  return 0;
}
