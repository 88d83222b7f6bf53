// ARGS: offload {} --cpu i7-6700k --gpu gtx1080 --arg n=100 --cpu-isa nonsense
// EXIT: 1
// STDERR: nonsense.*--cpu-isa

void scale(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2.0;
}
