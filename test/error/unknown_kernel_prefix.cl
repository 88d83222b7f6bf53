// ARGS: predict {} --kernel sca --device v100 --grid 1 --block 64
// EXIT: 2
// STDERR: --kernel sca: no kernel is named

__kernel void scale(__global float* out) { out[get_global_id(0)] *= 2.0f; }
__kernel void shift(__global float* out) { out[get_global_id(0)] += 2.0f; }
