// y = A^T (A x); n by n.
//
//   kernelcast offload examples/offload/atax.c --role t=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

void row_sums(const double* a, const double* x, double* t, int n) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * x[j];
    t[i] = sum;
  }
}

void column_sums(const double* a, const double* t, double* y, int n) {
#pragma omp target teams distribute parallel for
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i * n + j] * t[i];
    y[j] = sum;
  }
}
