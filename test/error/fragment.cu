// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: unknown type name 'number'
// STDERR: fragment_host.h:4 includes this file; if what is missing is declared there, give that file

__global__ void twice(number* a) { a[threadIdx.x] *= 2; }
