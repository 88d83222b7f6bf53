// ARGS: predict {} --device v100 --grid 1 --block 64 --arg n=99999999999999999999
// EXIT: 2
// STDERR: --arg n=99999999999999999999.*64 bits

__kernel void ones(__global float* out, int n) { out[get_global_id(0)] = n; }
