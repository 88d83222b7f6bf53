// ARGS: predict {} --device v100 --grid 4 --blocks 64
// EXIT: 2
// STDERR: predict has no flag --blocks; did you mean --block\?

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
