// ARGS: predict {} --device v100 --grid 4 --block 64 --shared=-1
// EXIT: 2
// STDERR: --shared -1

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
