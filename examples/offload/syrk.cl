// C = alpha A A^T + beta C; n by n. A work-item for each element. The CPU's side is syrk.c.
//
//   kernelcast offload examples/offload/syrk.cl --cpu-source examples/offload/syrk.c --grid 8,1024 --block 128 --cpu i7-6700k --gpu gtx1080 --arg n=1024

__kernel void scale(__global double* c, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j < n) c[i * n + j] *= 4546.0;
}

__kernel void update(__global const double* a, __global double* c, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j >= n) return;
  double sum = c[i * n + j];
  for (int k = 0; k < n; ++k) sum += 12435.0 * a[i * n + k] * a[j * n + k];
  c[i * n + j] = sum;
}
