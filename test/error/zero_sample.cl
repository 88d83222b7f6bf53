// ARGS: predict {} --device v100 --grid 4 --block 64 --sample 0
// EXIT: 2
// STDERR: --sample 0: expected a whole number of at least 1

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
