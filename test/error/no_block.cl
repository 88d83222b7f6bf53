// ARGS: predict {} --device v100 --grid 4
// EXIT: 2
// STDERR: --block

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
