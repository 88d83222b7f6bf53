// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: error: .*undeclared identifier 'factor'
// STDERR: note: .*:9: no kernel found: this one is under '#ifdef USE_HIP' \(line 8\)

__device__ float scaled(float a) { return a * factor; }

#ifdef USE_HIP
__global__ void scale(float* a) { a[threadIdx.x] = scaled(a[threadIdx.x]); }
#endif
