// y = alpha A x + beta B x; n by n. Sums stay in memory, t for A's; gesummv.cl is the same with a work-group for each row.
//
//   kernelcast offload examples/offload/gesummv.c --role t=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

void gesummv(const double* a, const double* b, const double* x, double* t, double* y, int n) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i) {
    t[i] = 0;
    y[i] = 0;
    for (int j = 0; j < n; ++j) {
      t[i] = a[i * n + j] * x[j] + t[i];
      y[i] = b[i * n + j] * x[j] + y[i];
    }
    y[i] = 43532.0 * t[i] + 12313.0 * y[i];
  }
}
