// ARGS: predict {} --device v100 --grid 4 --block 64 --buffer in=1000:file:{}
// EXIT: 2
// STDERR: --buffer in=1000:file:.*fill_file_not_read.cu: it has [0-9]+ bytes, the buffer 4000 .1000 elements of 4 bytes.

__global__ void copy(float* out, const float* in) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
}
