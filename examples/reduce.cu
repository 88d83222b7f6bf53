// Sum of an array: a grid-stride loop, then shuffles inside each warp, then one atomic addition a warp.
//
//   kernelcast predict examples/reduce.cu --device v100,a100-sxm4-40gb --grid 320 --block 256 --arg n=16777216

__global__ void reduce(const float* in, float* total, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int distance = 16; distance > 0; distance >>= 1) {
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  }
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(total, sum);
  }
}
