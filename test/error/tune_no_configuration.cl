// ARGS: tune {} --device v100 --problem 64 --block 32..64 --constraint threads>64 --no-cache
// EXIT: 1
// STDERR: no configuration satisfies the constraints

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
