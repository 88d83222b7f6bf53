// ARGS: predict {} --device v100 --grid 1 --block 64 --arg n=2147483648
// EXIT: 2
// STDERR: --arg n=2147483648: parameter "n" of type int .*holds -2147483648 to 2147483647

__kernel void sum(__global float* out, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += out[i];
  out[get_global_id(0)] = s;
}
