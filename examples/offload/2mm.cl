// Two matrix products, E = (A B) D; n by n. A work-item for each element. The CPU's side is 2mm.c.
//
//   kernelcast offload examples/offload/2mm.cl --cpu-source examples/offload/2mm.c --grid 8,1024 --block 128 --role c=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

__kernel void product1(__global const double* a, __global const double* b, __global double* c, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

__kernel void product2(__global const double* c, __global const double* d, __global double* e, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += c[i * n + k] * d[k * n + j];
  e[i * n + j] = sum;
}
