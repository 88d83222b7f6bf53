// ARGS: predict {} --device v100 --let width
// EXIT: 2
// STDERR: --let width: expected NAME=VALUE

__global__ void ones(float* out) { out[threadIdx.x] = 1.0f; }
int main() { ones<<<1, 32>>>(nullptr); }
