// ARGS: predict {} --device v100 --grid 4 --block 64 -D 1x=3
// EXIT: 2
// STDERR: -D 1x=3: expected NAME or NAME=VALUE

__global__ void ones(float* out) { out[threadIdx.x] = 1.0f; }
