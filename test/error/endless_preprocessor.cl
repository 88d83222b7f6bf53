// ARGS: predict {} --device v100 --grid 1 --block 64 --compile-seconds 2
// EXIT: 1
// STDERR: limit of time \(2 s of processor time
// SECONDS: 30
#if __INCLUDE_LEVEL__ < 100
#include "endless_preprocessor.cl"
#include "endless_preprocessor.cl"
#endif

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
