// ARGS: offload {} --cpu i7-6700k --gpu gtx1080 --arg n=100 --role y=in
// EXIT: 2
// STDERR: --role y: no such buffer; there are a

void scale(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2.0;
}
