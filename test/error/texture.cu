// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: [Tt]exture
// STDERR: kernel 'sample\(

__global__ void sample(cudaTextureObject_t image, float* out) {
  out[threadIdx.x] = tex2D<float>(image, threadIdx.x + 0.5f, 0.5f);
}
