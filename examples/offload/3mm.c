// Three matrix products, G = (A B) (C D); n by n.
//
//   kernelcast offload examples/offload/3mm.c --role e=temp --role f=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

void product1(const double* a, const double* b, double* e, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      e[i * n + j] = 0;
      for (int k = 0; k < n; ++k) e[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
}

void product2(const double* c, const double* d, double* f, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      f[i * n + j] = 0;
      for (int k = 0; k < n; ++k) f[i * n + j] += c[i * n + k] * d[k * n + j];
    }
  }
}

void product3(const double* e, const double* f, double* g, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      g[i * n + j] = 0;
      for (int k = 0; k < n; ++k) g[i * n + j] += e[i * n + k] * f[k * n + j];
    }
  }
}
