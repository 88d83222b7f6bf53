// ARGS: predict {} --device v100 --grid 1,2,3,4 --block 64
// EXIT: 2
// STDERR: --grid 1,2,3,4

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
