// ARGS: predict {} --device v100 --grid 4 --block 64 --blok 5
// EXIT: 2
// STDERR: predict has no flag --blok; did you mean --block

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
