// ARGS: predict {} --device h100 --grid 64 --block 384
// EXIT: 1
// STDERR: the number of registers that a block asks for by setmaxnreg is 92160, but NVIDIA H100.* allows at most 65536

__global__ void ones(float* out) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
