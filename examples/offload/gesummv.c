// y = alpha A x + beta B x; n by n.

void gesummv(const double* restrict a, const double* restrict b, const double* restrict x, double* restrict y, int n) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i) {
    double of_a = 0;
    double of_b = 0;
    for (int j = 0; j < n; ++j) {
      of_a += a[i * n + j] * x[j];
      of_b += b[i * n + j] * x[j];
    }
    y[i] = 43532.0 * of_a + 12313.0 * of_b;
  }
}
