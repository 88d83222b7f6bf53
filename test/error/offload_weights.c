// ARGS: offload {} --cpu i7-6700k --gpu gtx1080 --arg n=100 --weights time=0.9,energy=0.2
// EXIT: 2
// STDERR: --weights time=0.9,energy=0.2: both must be 0 or more and add up to 1

void scale(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2.0;
}
