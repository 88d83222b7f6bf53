// ARGS: tune {} --device v100 --problem 64 --block 2048..2050 --no-cache
// EXIT: 1
// STDERR: no configuration can run; the first: 2048 threads

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
