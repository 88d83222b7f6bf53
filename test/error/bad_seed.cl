// ARGS: predict {} --device v100 --grid 4 --block 64 --seed -1
// EXIT: 2
// STDERR: --seed -1: expected a whole number of at least 0

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
