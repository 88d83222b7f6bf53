// ARGS: predict {} --device v100 --grid 4 --block 64 --counts executed --max-instructions 10
// EXIT: 1
// STDERR: not one block could be executed.*--max-instructions

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
