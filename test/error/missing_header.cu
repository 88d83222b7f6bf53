// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: missing_header\.cu:7:\d+: error: use of undeclared identifier 'ONE'
// STDERR: 'no_such_header\.h' was not found.*-I

#include "no_such_header.h"
__global__ void ones(float* out) { out[threadIdx.x] = ONE; }
