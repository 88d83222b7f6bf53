// ARGS: predict {} --device v100 --grid 1 --block 64 --arg levels=70
// EXIT: 1
// STDERR: shift amount out of range in .*, with --arg levels=70: give values that the program would

__global__ void fill(float* out, int levels) {
  const unsigned active = (1 << levels) / 2;
  for (int i = 0; i < levels; ++i)
    if (threadIdx.x < active) out[blockIdx.x * active + threadIdx.x] += i;
}
