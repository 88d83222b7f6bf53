// C = alpha A B^T + alpha B A^T + beta C; n by n. A work-group for each row, its work-items along the row or the sum of one
// element after another: what an OpenACC compiler makes of gangs around a loop around vector lanes with a reduction. The
// CPU's side is syr2k.c.
//
//   kernelcast offload examples/offload/syr2k.cl --cpu-source examples/offload/syr2k.c --grid 1024 --block 128 --cpu i7-6700k --gpu gtx1080 --arg n=1024

#define LANES 128

double sum_of_group(double mine, __local double* sums, int lane) {
  sums[lane] = mine;
  for (int step = LANES / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) sums[lane] += sums[lane + step];
  }
  return sums[0];
}

__kernel void scale(__global double* c, int n) {
  for (int j = get_local_id(0); j < n; j += LANES) c[get_group_id(0) * n + j] *= 4546.0;
}

__kernel void update(__global const double* a, __global const double* b, __global double* c, int n) {
  __local double sums[LANES];
  int i = get_group_id(0);
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int k = get_local_id(0); k < n; k += LANES)
      sum += 12435.0 * a[i * n + k] * b[j * n + k] + 12435.0 * b[i * n + k] * a[j * n + k];
    sum = sum_of_group(sum, sums, get_local_id(0));
    if (get_local_id(0) == 0) c[i * n + j] += sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
