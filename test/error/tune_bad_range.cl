// ARGS: tune {} --device v100 --problem 64 --block 64..32
// EXIT: 2
// STDERR: --block 64..32

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
