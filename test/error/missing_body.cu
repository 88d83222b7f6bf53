// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: missing_body\.cu: kernel 'k\(float\*\)' calls 'far_away_and_nowhere\(float\)' \(.*missing_body\.cu:9\), which has no body here.*-I
// The body would be most of the time.

__device__ float far_away_and_nowhere(float x);

__global__ void k(float* a) {
  a[threadIdx.x] = far_away_and_nowhere(a[threadIdx.x]);
}
