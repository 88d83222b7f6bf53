// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: \\x1b\[31mEVIL\\x07\.cu:7:\d+: error: use of undeclared identifier 'nowhere'
// A terminal must not obey what a source says.
__device__ int d;
#line 7 "\033[31mEVIL\007.cu"
__global__ void k(int* a) { a[threadIdx.x] = nowhere; }
