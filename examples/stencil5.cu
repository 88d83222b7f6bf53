// Five-point stencil on a width x height grid: five loads and one store for a few additions, so memory decides.
//
//   kernelcast predict examples/stencil5.cu --device gtx280,v100,mi100 --grid 128,256 --block 32,8 \
//     --arg width=4096 --arg height=2048

__global__ void stencil5(const float* in, float* out, int width, int height, float weight) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) {
    return;
  }
  int i = y * width + x;
  out[i] = (1.0f - 4.0f * weight) * in[i] + weight * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}
