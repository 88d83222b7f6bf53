// ARGS: predict {} --device v100 --grid 1 --block 64 --map i
// EXIT: 2
// STDERR: --map i: .*is no C or C\+\+ loop nest

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
