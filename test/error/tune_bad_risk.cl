// ARGS: tune {} --device v100 --problem 64 --block 32 --risk 2
// EXIT: 2
// STDERR: --risk 2

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
