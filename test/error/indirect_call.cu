// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: (indirect|function pointer)

typedef float (*function)(float);

__global__ void apply(function* table, float* out) { out[threadIdx.x] = table[threadIdx.x & 1](out[threadIdx.x]); }
