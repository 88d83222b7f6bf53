// ARGS: predict {} --device h100 --grid 4 --block 64 --power-limit 70W
// EXIT: 2
// STDERR: NVIDIA H100 SXM: --power-limit 70 W is no more than it draws when idle, 70 W

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
