// Covariance of the columns of an n by n matrix. The CPU's side is cov.c. `centre` has a work-item for each element, the
// others one for each column: give each its own grid.
//
//   kernelcast offload examples/offload/cov.cl --kernel products --cpu-source examples/offload/cov.c --grid 8 --block 128 --cpu i7-6700k --gpu gtx1080 --arg n=1024

__kernel void mean_of_columns(__global const double* data, __global double* mean, int n) {
  int j = get_global_id(0);
  if (j >= n) return;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += data[i * n + j];
  mean[j] = sum / n;
}

__kernel void centre(__global double* data, __global const double* mean, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j < n) data[i * n + j] -= mean[j];
}

// A work-item has column p with all columns from p on, as in the nest.
__kernel void products(__global const double* data, __global double* result, int n) {
  int p = get_global_id(0);
  if (p >= n) return;
  for (int q = p; q < n; ++q) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += data[i * n + p] * data[i * n + q];
    sum /= n - 1;
    result[p * n + q] = sum;
    result[q * n + p] = sum;
  }
}
