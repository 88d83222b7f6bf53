// ARGS: tune {} --device v100 --problem 64 --block 32..64 --constraint block_x>60 --constraint threads<=60 --no-cache
// EXIT: 1
// STDERR: no configuration satisfies the constraints; of 33 combinations block_x>60 leaves out 29, threads<=60 leaves out 4

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
