// Convolution of an n by n image with a 3 by 3 kernel.
//
//   kernelcast offload examples/offload/2dconv.c --cpu i7-6700k --gpu gtx1080 --arg n=1024

void convolve(const double* a, double* b, int n) {
#pragma omp target teams distribute parallel for
  for (int i = 1; i < n - 1; ++i) {
    for (int j = 1; j < n - 1; ++j) {
      b[i * n + j] = 2.0 * a[(i - 1) * n + (j - 1)] + -3.0 * a[i * n + (j - 1)] + 4.0 * a[(i + 1) * n + (j - 1)] +
                     5.0 * a[(i - 1) * n + j] + 6.0 * a[i * n + j] + 7.0 * a[(i + 1) * n + j] +
                     -8.0 * a[(i - 1) * n + (j + 1)] + -9.0 * a[i * n + (j + 1)] + 10.0 * a[(i + 1) * n + (j + 1)];
    }
  }
}
