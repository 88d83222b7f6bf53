// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: undeclared_name\.cu:6:\d+: error: use of undeclared identifier 'sum'

__global__ void broken(float* out) {
  out[threadIdx.x] = sum;
}
