// ARGS: offload {} --cpu gtx1080 --gpu gtx1080 --arg n=100
// EXIT: 2
// STDERR: --cpu.*is a GPU; give a CPU

void scale(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2.0;
}
