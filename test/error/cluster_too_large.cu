// ARGS: predict {} --device h100 --grid 64 --block 64
// EXIT: 1
// STDERR: the number of blocks in a cluster is 32, but NVIDIA H100.* allows at most 16 .limits.max_blocks_per_cluster

__global__ void __cluster_dims__(32, 1, 1) ones(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
