// ARGS: offload {} --cpu i7-6700k --gpu gtx1080
// EXIT: 2
// STDERR: --arg n=VALUE

void scale(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2.0;
}
