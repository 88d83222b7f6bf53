// ARGS: predict {} --device a100 --grid 4 --block 128
// EXIT: 1
// STDERR: asm_other_target.cu:5: 'setmaxnreg.dec.sync.aligned.u32' is no instruction of sm_80; NVIDIA H100 \(sm_90\) has it

__device__ void fewer() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }
__device__ void unused() { asm volatile("tcgen05.wait::ld.sync.aligned;"); }
__global__ void roles(float* out) {
  if (threadIdx.x >= 128) fewer();
  out[threadIdx.x] = 1;
}
