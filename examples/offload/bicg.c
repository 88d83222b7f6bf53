// q = A p and s = A^T r, the two products of BiCG; n by n.
//
//   kernelcast offload examples/offload/bicg.c --cpu i7-6700k --gpu gtx1080 --arg n=1024

void row_sums(const double* a, const double* p, double* q, int n) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * p[j];
    q[i] = sum;
  }
}

void column_sums(const double* a, const double* r, double* s, int n) {
#pragma omp target teams distribute parallel for
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i * n + j] * r[i];
    s[j] = sum;
  }
}
