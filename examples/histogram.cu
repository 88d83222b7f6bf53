// Histogram of bytes: addresses that data decide. Counts collect in shared memory and are added to global memory at the
// end. Which bin a byte falls into decides bank conflicts: some blocks are executed on random bytes to count them.
//
//   kernelcast explain examples/histogram.cu --device v100 --grid 160 --block 256 --arg n=16777216

__global__ void histogram(const unsigned char* in, unsigned int* bins, int n) {
  __shared__ unsigned int part[256];
  part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&part[in[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}
