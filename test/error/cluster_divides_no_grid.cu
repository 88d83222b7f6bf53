// ARGS: predict {} --device h100 --grid 63 --block 64
// EXIT: 1
// STDERR: the grid size in x is 63, no multiple of the 2 blocks of a cluster; give another --grid

__global__ void __cluster_dims__(2) ones(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
