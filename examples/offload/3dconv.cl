// Convolution of an n by n by n volume with fifteen taps. A work-item for each voxel. The CPU's side is 3dconv.c.
//
//   kernelcast offload examples/offload/3dconv.cl --cpu-source examples/offload/3dconv.c --grid 1,128,128 --block 128 --cpu i7-6700k --gpu gtx1080 --arg n=128

__kernel void convolve(__global const double* a, __global double* b, int n) {
  int k = get_global_id(0);
  int j = get_global_id(1);
  int i = get_global_id(2);
  if (i < 1 || i >= n - 1 || j < 1 || j >= n - 1 || k < 1 || k >= n - 1) return;
  b[i * n * n + j * n + k] =
    2.0 * a[(i - 1) * n * n + (j - 1) * n + (k - 1)] + 4.0 * a[(i + 1) * n * n + (j - 1) * n + (k - 1)] +
    5.0 * a[(i - 1) * n * n + (j - 1) * n + (k - 1)] + 7.0 * a[(i + 1) * n * n + (j - 1) * n + (k - 1)] +
    -8.0 * a[(i - 1) * n * n + (j - 1) * n + (k - 1)] + 10.0 * a[(i + 1) * n * n + (j - 1) * n + (k - 1)] +
    -3.0 * a[i * n * n + (j - 1) * n + k] + 6.0 * a[i * n * n + j * n + k] +
    -9.0 * a[i * n * n + (j + 1) * n + k] + 2.0 * a[(i - 1) * n * n + (j - 1) * n + (k + 1)] +
    4.0 * a[(i + 1) * n * n + (j - 1) * n + (k + 1)] + 5.0 * a[(i - 1) * n * n + j * n + (k + 1)] +
    7.0 * a[(i + 1) * n * n + j * n + (k + 1)] + -8.0 * a[(i - 1) * n * n + (j + 1) * n + (k + 1)] +
    10.0 * a[(i + 1) * n * n + (j + 1) * n + (k + 1)];
}
