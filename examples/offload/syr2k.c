// C = alpha A B^T + alpha B A^T + beta C; n by n.
//
//   kernelcast offload examples/offload/syr2k.c --cpu i7-6700k --gpu gtx1080 --arg n=1024

void scale(double* c, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] *= 4546.0;
  }
}

void update(const double* a, const double* b, double* c, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = c[i * n + j];
      for (int k = 0; k < n; ++k) sum += 12435.0 * a[i * n + k] * b[j * n + k] + 12435.0 * b[i * n + k] * a[j * n + k];
      c[i * n + j] = sum;
    }
  }
}
