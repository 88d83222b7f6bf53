// ARGS: predict {} --grid 4 --block 64 --device gtx281
// EXIT: 2
// STDERR: gtx281.*nvidia-geforce-gtx-280

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
