// ARGS: predict {} --device h100 --grid 64 --block 128
// EXIT: 1
// STDERR: setmaxnreg_no_such_number.cu:6: setmaxnreg asks for 250 registers; it takes a multiple of 8 from 24 to 256

__global__ void ones(float* out) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 250;");
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
