// Matrix product as a plain loop nest: no GPU program is needed for a forecast. The pragma says which loops would
// become work-items (collapse(2): i and j); --map i,j says the same without a pragma.
//
//   kernelcast predict examples/matmul.c --device gtx280,v100 --block 16,16 --arg n=1024

void matmul(const float* a, const float* b, float* c, int n) {
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (int k = 0; k < n; ++k) {
        sum += a[i * n + k] * b[k * n + j];
      }
      c[i * n + j] = sum;
    }
  }
}
