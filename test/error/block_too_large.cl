// ARGS: predict {} --device gtx280 --grid 16 --block 1024
// EXIT: 1
// STDERR: 1024.*GTX 280.*512.*--block

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
