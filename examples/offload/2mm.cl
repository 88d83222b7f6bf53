// Two matrix products, E = (A B) D; n by n. A work-group for each row, its work-items along the sum of one element after
// another: what an OpenACC compiler makes of gangs around a loop around vector lanes with a reduction. The CPU's side is
// 2mm.c.
//
//   kernelcast offload examples/offload/2mm.cl --cpu-source examples/offload/2mm.c --grid 1024 --block 128 --role c=temp --role e=out --cpu i7-6700k --gpu gtx1080 --arg n=1024

#define LANES 128

double sum_of_group(double mine, __local double* sums, int lane) {
  sums[lane] = mine;
  for (int step = LANES / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) sums[lane] += sums[lane + step];
  }
  return sums[0];
}

__kernel void product1(__global const double* a, __global const double* b, __global double* c, int n) {
  __local double sums[LANES];
  int i = get_group_id(0);
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int k = get_local_id(0); k < n; k += LANES) sum += a[i * n + k] * b[k * n + j];
    sum = sum_of_group(sum, sums, get_local_id(0));
    if (get_local_id(0) == 0) c[i * n + j] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel void product2(__global const double* c, __global const double* d, __global double* e, int n) {
  __local double sums[LANES];
  int i = get_group_id(0);
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int k = get_local_id(0); k < n; k += LANES) sum += c[i * n + k] * d[k * n + j];
    sum = sum_of_group(sum, sums, get_local_id(0));
    if (get_local_id(0) == 0) e[i * n + j] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
