// ARGS: predict {} --device v100 --grid 4 --block 64 --max-memory 4X
// EXIT: 2
// STDERR: --max-memory 4X: expected bytes

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
