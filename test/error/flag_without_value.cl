// ARGS: predict {} --device v100 --grid 1 --block
// EXIT: 2
// STDERR: --block needs X\[,Y\[,Z\]\] behind it

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
