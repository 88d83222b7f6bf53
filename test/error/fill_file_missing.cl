// ARGS: predict {} --device v100 --grid 4 --block 64 --counts executed --buffer out=256:file:no_such_file
// EXIT: 2
// STDERR: --buffer out=256:file:no_such_file

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
