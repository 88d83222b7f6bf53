// ARGS: predict {} --device h100 --grid 64 --block 128 --tensor-map B=64x128:2
// EXIT: 2
// STDERR: --tensor-map B: kernel ones.* has no parameter of that name

__global__ void ones(float* A) { A[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
