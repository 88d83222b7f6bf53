// ARGS: predict {} --device v100 --grid 99999999999999999999 --block 64
// EXIT: 2
// STDERR: --grid 99999999999999999999

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
