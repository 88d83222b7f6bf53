// x1 += A y1 and x2 += A^T y2; n by n.
//
//   kernelcast offload examples/offload/mvt.c --cpu i7-6700k --gpu gtx1080 --arg n=1024

void row_sums(const double* a, const double* y1, double* x1, int n) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * y1[j];
    x1[i] += sum;
  }
}

void column_sums(const double* a, const double* y2, double* x2, int n) {
#pragma omp target teams distribute parallel for
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i * n + j] * y2[i];
    x2[j] += sum;
  }
}
