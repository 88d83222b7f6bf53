// ARGS: tune {} --device i7-6700k --problem 64 --block 32
// EXIT: 1
// STDERR: is a CPU: kernels are forecast on GPUs

__kernel void one(__global float* out) { out[get_global_id(0)] = 1.0f; }
