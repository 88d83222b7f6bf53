// y = alpha A x + beta B x. A work-group for each sum, its work-items along it: what an OpenACC compiler makes of a
// loop of gangs around a loop of vector lanes with a reduction. The CPU's side is gesummv.c.
//
//   kernelcast offload examples/offload/gesummv.cl --cpu-source examples/offload/gesummv.c --grid 1024 --block 128 --role t=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

#define LANES 128

double sum_of_group(double mine, __local double* sums, int lane) {
  sums[lane] = mine;
  for (int step = LANES / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) sums[lane] += sums[lane + step];
  }
  return sums[0];
}

__kernel void gesummv(__global const double* a, __global const double* b, __global const double* x, __global double* y, int n) {
  __local double sums[LANES];
  double of_a = 0;
  double of_b = 0;
  for (int j = get_local_id(0); j < n; j += LANES) {
    of_a += a[get_group_id(0) * n + j] * x[j];
    of_b += b[get_group_id(0) * n + j] * x[j];
  }
  of_a = sum_of_group(of_a, sums, get_local_id(0));
  barrier(CLK_LOCAL_MEM_FENCE);
  of_b = sum_of_group(of_b, sums, get_local_id(0));
  if (get_local_id(0) == 0) y[get_group_id(0)] = 43532.0 * of_a + 12313.0 * of_b;
}
