// ARGS: predict {} --device v100 --grid 4 --global 256 --block 64
// EXIT: 2
// STDERR: --grid and --global

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
