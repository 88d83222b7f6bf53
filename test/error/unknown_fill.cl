// ARGS: predict {} --device v100 --grid 4 --block 64 --buffer out=256:unifrom(0,1)
// EXIT: 2
// STDERR: --buffer out=256:unifrom.*uniform

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
