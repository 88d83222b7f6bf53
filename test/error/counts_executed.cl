// ARGS: predict {} --device v100 --grid 4 --block 64 --counts executed
// EXIT: 1
// STDERR: --counts executed is not available in this version.*--counts symbolic

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
