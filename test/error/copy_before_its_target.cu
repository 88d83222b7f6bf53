// ARGS: predict {} --device v100 --grid 4 --block 128
// EXIT: 1
// STDERR: copy_before_its_target.cu:8: 'cp.async.bulk.commit_group' is no instruction of sm_70; NVIDIA H100 \(sm_90\) has it

#include <cuda/ptx>
__global__ void copy(float* out) {
  out[threadIdx.x] = 1;
  cuda::ptx::cp_async_bulk_commit_group();
}
