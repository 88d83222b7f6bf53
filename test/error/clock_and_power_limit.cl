// ARGS: predict {} --device h100 --grid 4 --block 64 --clock base --power-limit 500
// EXIT: 2
// STDERR: --clock and --power-limit both set the clock: give one of them

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
