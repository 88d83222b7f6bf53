// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: error: #include nested too deeply
#include "self_include.cl"

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
