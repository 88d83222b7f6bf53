// ARGS: predict {} --device v100
// EXIT: 1
// STDERR: launch_argument_unknown.cu:7: ones: the block is not known: width: system\(\) is not evaluated \(line 6\); give --let width=VALUE
#include <cstdlib>
__global__ void ones(float* out) { out[threadIdx.x] = 1.0f; }
int main() { int width = system(0);
  ones<<<1, width>>>(nullptr); }
