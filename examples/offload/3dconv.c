// Convolution of an n by n by n volume with fifteen taps.
//
//   kernelcast offload examples/offload/3dconv.c --cpu i7-6700k --gpu gtx1080 --arg n=128

void convolve(const double* a, double* b, int n) {
#pragma omp target teams distribute parallel for
  for (int i = 1; i < n - 1; ++i) {
    for (int j = 1; j < n - 1; ++j) {
      for (int k = 1; k < n - 1; ++k) {
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
    }
  }
}
