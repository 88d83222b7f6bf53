// ARGS: predict {} --device v100 --block 64 --map i,i --arg n=64
// EXIT: 2
// STDERR: --map i,i: i is named twice

void scale(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] *= 2.0f;
}
