// ARGS: tune {} --device v100 --space {}
// EXIT: 1
// STDERR: not JSON

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
