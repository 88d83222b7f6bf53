// SKE's block-size sweep: a nearest-neighbour resize of RGB frames, one thread a pixel of the 480 x 270 result. The model's
// minimum is at 32 x 4, as its paper has it for this kernel.
//
//   kernelcast tune examples/resize.cu --model ske --as-printed --device gtx670 --problem 480,270 --block 32,1..16 \
//     --arg width=480 --arg height=270 --arg in_width=1920 --arg in_height=1080 --arg sx=4096 --arg sy=4096

__global__ void resize(const unsigned char* in, unsigned char* out, int width, int height, int in_width, int in_height,
                       int sx, int sy) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int from_x = min(x * sx >> 10, in_width - 1), from_y = min(y * sy >> 10, in_height - 1);  // scale in 1/1024
  const int from = 3 * (from_y * in_width + from_x), to = 3 * (y * width + x);
  out[to] = in[from];
  out[to + 1] = in[from + 1];
  out[to + 2] = in[from + 2];
}
