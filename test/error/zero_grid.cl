// ARGS: predict {} --device v100 --grid 0 --block 64
// EXIT: 2
// STDERR: --grid 0

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
