// ARGS: predict {} --device mi210 --grid 1 --block 64 --buffer q=64
// EXIT: 2
// STDERR: has no pointer parameter or array "q" \(--buffer\); (there is|there are|it has) a, table\n

// What the compiler adds for this target is no array of the source.
__device__ int table[64];
__global__ void k(int* a) { a[threadIdx.x] = table[threadIdx.x]; }
