// ARGS: offload {} --cpu i7-6700k --gpu gtx1080 --arg n=100 --model offload-2017 --faults large-roof
// EXIT: 2
// STDERR: --faults: there is no fault "large-roof"; the nearest is "larger-roof"

void scale(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2.0;
}
