// Two matrix products, E = (A B) D; n by n.
//
//   kernelcast offload examples/offload/2mm.c --role c=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

void product1(const double* a, const double* b, double* c, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      c[i * n + j] = 0;
      for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
}

void product2(const double* c, const double* d, double* e, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      e[i * n + j] = 0;
      for (int k = 0; k < n; ++k) e[i * n + j] += c[i * n + k] * d[k * n + j];
    }
  }
}
