// ARGS: check {} {} --device v100 --grid 1 --block 64 --new-define 1=2
// EXIT: 2
// STDERR: --new-define 1=2: expected

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
