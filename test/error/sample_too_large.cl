// ARGS: predict {} --device v100 --grid 1024,1024,1024 --block 64 --counts executed --sample all
// EXIT: 1
// STDERR: kernel ones: a sample of 1073741824 blocks; at most 16777216 can be executed: give a smaller --sample N

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
