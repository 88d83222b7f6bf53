// ARGS: predict {} --device v100 --grid 4 --block 64 --lang fortran
// EXIT: 2
// STDERR: --lang fortran

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
