// ARGS: predict {} --device v100 --grid 4 --block 64 --threads many
// EXIT: 2
// STDERR: --threads many: expected lockstep or independent

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
