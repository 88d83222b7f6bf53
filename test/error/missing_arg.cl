// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 2
// STDERR: --arg n=VALUE

__kernel void sum(__global const float* in, __global float* out, int n) {
  float s = 0.0f;
  for (int i = 0; i < n; ++i) s += in[i];
  out[get_global_id(0)] = s;
}
