// SKE's second study: H.264 intra prediction, mode 4 x 4 diagonal down-left, one block of pixels of each of 3,000 streams.
// PLAN 1: a thread predicts a block of 4 x 4; 2: a thread a pixel; 3: a thread a set of equal pixels along the direction.
// Seven values (a + 2b + c + 2) / 4 of the eight neighbours above serve 16 pixels.
//
//   kernelcast tune examples/intra_prediction.cu --model ske --as-printed --device gtx280 --param PLAN=1,2,3 \
//     --problem 'PLAN == 1 ? 3000 : PLAN == 2 ? 48000 : 21000' --block '32..512:*2' --arg streams=3000

#ifndef PLAN
#define PLAN 1
#endif

__device__ unsigned char value(const unsigned char* above, int set) {
  const int c = set == 6 ? above[7] : above[set + 2];
  return (above[set] + 2 * above[set + 1] + c + 2) >> 2;
}

__global__ void diagonal_down_left(const unsigned char* above, unsigned char* out, int streams) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if PLAN == 1
  if (i >= streams) return;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) out[16 * i + 4 * y + x] = value(above + 8 * i, x + y);
#elif PLAN == 2
  if (i >= 16 * streams) return;
  const int pixel = i % 16;
  out[i] = value(above + 8 * (i / 16), pixel % 4 + pixel / 4);
#else
  if (i >= 7 * streams) return;
  const int set = i % 7, block = i / 7;
  const unsigned char v = value(above + 8 * block, set);
  for (int y = max(0, set - 3); y <= min(3, set); ++y) out[16 * block + 4 * y + set - y] = v;
#endif
}
