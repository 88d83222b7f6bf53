// ARGS: predict {} --device h100 --grid 64 --block 128 --tensor-map A=64x300:2
// EXIT: 2
// STDERR: --tensor-map A=64x300:2: expected NAME=DIM.xDIM....:BYTES, such as A=64x128:2, with 1 to 5 sizes from 1 to 256

__global__ void ones(float* A) { A[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
