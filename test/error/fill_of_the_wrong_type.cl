// ARGS: predict {} --device v100 --grid 4 --block 64 --counts executed --buffer out=256:constant(0.5)
// EXIT: 2
// STDERR: --buffer out=256:constant.0.5.

__kernel void ones(__global int* out) { out[get_global_id(0)] += 1; }
