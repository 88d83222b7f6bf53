// ARGS: predict {} --device v100 --grid 1 --block 64 --assume trip:3=7
// EXIT: 2
// STDERR: --assume trip:3: expected trips:LINE, branch:LINE or access:LINE

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
