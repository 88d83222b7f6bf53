// ARGS: predict {} --device a100 --grid 64 --block 64
// EXIT: 1
// STDERR: the number of blocks in a cluster is 2, but NVIDIA A100.* allows at most 1

__global__ void __cluster_dims__(2, 1, 1) ones(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
