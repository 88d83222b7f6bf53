// ARGS: tune {} --device v100 --problem 64
// EXIT: 2
// STDERR: give block sizes with --block

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
