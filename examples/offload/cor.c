// Correlation of the columns of an n by n matrix.
//
//   kernelcast offload examples/offload/cor.c --role mean=temp --role deviation=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

#include <math.h>

void mean_of_columns(const double* data, double* mean, int n) {
#pragma omp target teams distribute parallel for
  for (int j = 0; j < n; ++j) {
    mean[j] = 0;
    for (int i = 0; i < n; ++i) mean[j] += data[i * n + j];
    mean[j] /= n;
  }
}

void deviation_of_columns(const double* data, const double* mean, double* deviation, int n) {
#pragma omp target teams distribute parallel for
  for (int j = 0; j < n; ++j) {
    deviation[j] = 0;
    for (int i = 0; i < n; ++i) deviation[j] += (data[i * n + j] - mean[j]) * (data[i * n + j] - mean[j]);
    deviation[j] = sqrt(deviation[j] / (n - 1));
    deviation[j] = deviation[j] <= 0.005 ? 1.0 : deviation[j];
  }
}

void standardise(double* data, const double* mean, const double* deviation, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) data[i * n + j] = (data[i * n + j] - mean[j]) / deviation[j];
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
