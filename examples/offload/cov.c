// Covariance of the columns of an n by n matrix.
//
//   kernelcast offload examples/offload/cov.c --role mean=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

void mean_of_columns(const double* data, double* mean, int n) {
#pragma omp target teams distribute parallel for
  for (int j = 0; j < n; ++j) {
    mean[j] = 0;
    for (int i = 0; i < n; ++i) mean[j] += data[i * n + j];
    mean[j] /= n;
  }
}

void centre(double* data, const double* mean, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) data[i * n + j] -= mean[j];
  }
}

void products(const double* data, double* result, int n) {
#pragma omp target teams distribute parallel for
  for (int p = 0; p < n; ++p) {
    for (int q = p; q < n; ++q) {
      result[p * n + q] = 0;
      for (int i = 0; i < n; ++i) result[p * n + q] += data[i * n + p] * data[i * n + q];
      result[p * n + q] /= n - 1;
      result[q * n + p] = result[p * n + q];
    }
  }
}
