// y = A^T (A x). A work-group for each sum, its work-items along it: what an OpenACC compiler makes of a
// loop of gangs around a loop of vector lanes with a reduction. The CPU's side is atax.c.
//
//   kernelcast offload examples/offload/atax.cl --cpu-source examples/offload/atax.c --grid 1024 --block 128 --role t=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

#define LANES 128

double sum_of_group(double mine, __local double* sums, int lane) {
  sums[lane] = mine;
  for (int step = LANES / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) sums[lane] += sums[lane + step];
  }
  return sums[0];
}

__kernel void row_sums(__global const double* a, __global const double* x, __global double* t, int n) {
  __local double sums[LANES];
  double sum = 0;
  for (int i = get_local_id(0); i < n; i += LANES) sum += a[get_group_id(0) * n + i] * x[i];
  sum = sum_of_group(sum, sums, get_local_id(0));
  if (get_local_id(0) == 0) t[get_group_id(0)] = sum;
}

__kernel void column_sums(__global const double* a, __global const double* t, __global double* y, int n) {
  __local double sums[LANES];
  double sum = 0;
  for (int i = get_local_id(0); i < n; i += LANES) sum += a[i * n + get_group_id(0)] * t[i];
  sum = sum_of_group(sum, sums, get_local_id(0));
  if (get_local_id(0) == 0) y[get_group_id(0)] = sum;
}
