// ARGS: predict {} --device v100
// EXIT: 2
// STDERR: no launch is found in the host code; or give --grid and --block

__global__ void ones(float* out) { out[threadIdx.x] = 1.0f; }
int main() {}
