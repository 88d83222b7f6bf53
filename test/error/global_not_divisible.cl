// ARGS: predict {} --device v100 --global 100 --block 64
// EXIT: 2
// STDERR: --global 100.*--block 64.*--std CL2\.0

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
