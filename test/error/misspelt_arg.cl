// ARGS: predict {} --device v100 --grid 1 --block 64 --arg legnth=64
// EXIT: 2
// STDERR: legnth.*length

__kernel void sum(__global const float* in, __global float* out, int length) {
  float s = 0.0f;
  for (int i = 0; i < length; ++i) s += in[i];
  out[get_global_id(0)] = s;
}
