// ARGS: predict {} --device v100 --grid 4 --block 64 --sample none
// EXIT: 2
// STDERR: --sample none: expected

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
