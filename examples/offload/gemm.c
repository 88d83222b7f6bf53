// C = alpha A B + beta C; n by n.
//
//   kernelcast offload examples/offload/gemm.c --cpu i7-6700k --gpu gtx1080 --arg n=1024

void gemm(const double* a, const double* b, double* c, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      c[i * n + j] *= 2123.0;
      for (int k = 0; k < n; ++k) c[i * n + j] += 32412.0 * a[i * n + k] * b[k * n + j];
    }
  }
}
