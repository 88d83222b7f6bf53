// Convolution of an n by n image with a 3 by 3 kernel. A work-item for each pixel. The CPU's side is 2dconv.c.
//
//   kernelcast offload examples/offload/2dconv.cl --cpu-source examples/offload/2dconv.c --grid 8,1024 --block 128 --cpu i7-6700k --gpu gtx1080 --arg n=1024

__kernel void convolve(__global const double* a, __global double* b, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (i < 1 || i >= n - 1 || j < 1 || j >= n - 1) return;
  b[i * n + j] = 2.0 * a[(i - 1) * n + (j - 1)] + -3.0 * a[i * n + (j - 1)] + 4.0 * a[(i + 1) * n + (j - 1)] +
                 5.0 * a[(i - 1) * n + j] + 6.0 * a[i * n + j] + 7.0 * a[(i + 1) * n + j] +
                 -8.0 * a[(i - 1) * n + (j + 1)] + -9.0 * a[i * n + (j + 1)] + 10.0 * a[(i + 1) * n + (j + 1)];
}
