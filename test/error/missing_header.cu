// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: missing_header\.cu:5:\d+: fatal error: 'no_such_header\.h' file not found

#include "no_such_header.h"
__global__ void ones(float* out) { out[threadIdx.x] = ONE; }
