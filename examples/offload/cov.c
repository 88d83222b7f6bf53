// Covariance of the columns of an n by n matrix.

void mean_of_columns(const double* restrict data, double* restrict mean, int n) {
#pragma omp target teams distribute parallel for
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += data[i * n + j];
    mean[j] = sum / n;
  }
}

void centre(double* restrict data, const double* restrict mean, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) data[i * n + j] -= mean[j];
  }
}

void products(const double* restrict data, double* restrict result, int n) {
#pragma omp target teams distribute parallel for
  for (int p = 0; p < n; ++p) {
    for (int q = p; q < n; ++q) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += data[i * n + p] * data[i * n + q];
      result[p * n + q] = sum / (n - 1);
      result[q * n + p] = sum / (n - 1);
    }
  }
}
