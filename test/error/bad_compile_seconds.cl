// ARGS: predict {} --device v100 --grid 4 --block 64 --compile-seconds 0
// EXIT: 2
// STDERR: --compile-seconds 0: expected a number above 0

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
