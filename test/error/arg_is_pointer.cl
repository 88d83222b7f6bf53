// ARGS: predict {} --device v100 --grid 1 --block 64 --arg out=64
// EXIT: 2
// STDERR: out.*pointer.*--buffer

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
