// ARGS: tune {} --device v100 --problem 64 --block 64,128 --no-cache
// EXIT: 1
// STDERR: 8192 threads in a block, NVIDIA Tesla V100 PCIe 16GB allows 1024; --block 64,128 is one block of 64 x 128 threads, --block '\{64,128\}' tries two

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
