// ARGS: predict {} --device v100 --grid 4 --block 64 --counts executed
// EXIT: 2
// STDERR: 'v' is needed to execute the kernel: give --arg v=VALUE

__kernel void set(__global int* out, int v) {
  if (out[get_global_id(0)] > v) out[get_global_id(0)] = 0;
}
