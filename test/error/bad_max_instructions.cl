// ARGS: predict {} --device v100 --grid 4 --block 64 --max-instructions few
// EXIT: 2
// STDERR: --max-instructions few: expected

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
