// ARGS: predict {} --device v100 --grid 1 --block 64 --arg n=many
// EXIT: 2
// STDERR: --arg n=many

__kernel void ones(__global float* out, int n) { out[get_global_id(0)] = n; }
