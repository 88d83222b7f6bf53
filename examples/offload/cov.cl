// Covariance of the columns of an n by n matrix. A work-group for each column: what an OpenACC compiler makes of loops of
// gangs around loops of vector lanes. The lanes share a sum or the elements of a row or column. The CPU's side is cov.c.
//
//   kernelcast offload examples/offload/cov.cl --cpu-source examples/offload/cov.c --grid 1024 --block 128 --role mean=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

#define LANES 128

double sum_of_group(double mine, __local double* sums, int lane) {
  sums[lane] = mine;
  for (int step = LANES / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) sums[lane] += sums[lane + step];
  }
  return sums[0];
}

__kernel void mean_of_columns(__global const double* data, __global double* mean, int n) {
  __local double sums[LANES];
  double sum = 0;
  for (int i = get_local_id(0); i < n; i += LANES) sum += data[i * n + get_group_id(0)];
  sum = sum_of_group(sum, sums, get_local_id(0));
  if (get_local_id(0) == 0) mean[get_group_id(0)] = sum / n;
}

__kernel void centre(__global double* data, __global const double* mean, int n) {
  int i = get_group_id(0);
  for (int j = get_local_id(0); j < n; j += LANES) data[i * n + j] -= mean[j];
}

// A sum for each column from p on, one after another: the groups of the last columns have less work.
__kernel void products(__global const double* data, __global double* result, int n) {
  __local double sums[LANES];
  int p = get_group_id(0);
  for (int q = p; q < n; ++q) {
    double sum = 0;
    for (int i = get_local_id(0); i < n; i += LANES) sum += data[i * n + p] * data[i * n + q];
    sum = sum_of_group(sum, sums, get_local_id(0));
    if (get_local_id(0) == 0) {
      sum /= n - 1;
      result[p * n + q] = sum;
      result[q * n + p] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
