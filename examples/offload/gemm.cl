// C = alpha A B + beta C; n by n. A work-item for each element. The CPU's side is gemm.c.
//
//   kernelcast offload examples/offload/gemm.cl --cpu-source examples/offload/gemm.c --grid 8,1024 --block 128 --cpu i7-6700k --gpu gtx1080 --arg n=1024

__kernel void gemm(__global const double* a, __global const double* b, __global double* c, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j >= n) return;
  double sum = c[i * n + j] * 2123.0;
  for (int k = 0; k < n; ++k) sum += 32412.0 * a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}
