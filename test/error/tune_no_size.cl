// ARGS: tune {} --device v100 --block 64
// EXIT: 2
// STDERR: --problem

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
