// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: (time|limit|longer)
// SECONDS: 60
#if __INCLUDE_LEVEL__ < 100
#include "endless_preprocessor.cl"
#include "endless_preprocessor.cl"
#endif

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
