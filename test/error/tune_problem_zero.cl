// ARGS: tune {} --device v100 --problem 0 --block 64
// EXIT: 1
// STDERR: the problem size "0" is 0, which is not a whole number of at least 1

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
