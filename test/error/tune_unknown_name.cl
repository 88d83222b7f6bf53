// ARGS: tune {} --device v100 --problem 64 --block BLOCKX --param BLOCKY=1,2
// EXIT: 2
// STDERR: nothing is called BLOCKX; did you mean BLOCKY?

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
