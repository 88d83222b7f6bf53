// ARGS: tune {} --device v100 --problem 64 --block 32..64 --constraint block_x<
// EXIT: 2
// STDERR: --constraint: expression "block_x<": it ends too early

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
