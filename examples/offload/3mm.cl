// Three matrix products, G = (A B) (C D); n by n. A work-item for each element. The CPU's side is 3mm.c.
//
//   kernelcast offload examples/offload/3mm.cl --cpu-source examples/offload/3mm.c --grid 8,1024 --block 128 --role e=temp --role f=temp --cpu i7-6700k --gpu gtx1080 --arg n=1024

__kernel void product1(__global const double* a, __global const double* b, __global double* e, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
  e[i * n + j] = sum;
}

__kernel void product2(__global const double* c, __global const double* d, __global double* f, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += c[i * n + k] * d[k * n + j];
  f[i * n + j] = sum;
}

__kernel void product3(__global const double* e, __global const double* f, __global double* g, int n) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (j >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += e[i * n + k] * f[k * n + j];
  g[i * n + j] = sum;
}
