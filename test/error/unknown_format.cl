// ARGS: predict {} --device v100 --grid 4 --block 64 --format xml
// EXIT: 2
// STDERR: --format xml

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
