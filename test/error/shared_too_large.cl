// ARGS: predict {} --device gtx280 --grid 16 --block 64 --shared 65536
// EXIT: 1
// STDERR: GTX 280.*--shared

__kernel void ones(__global float* out, __local float* part) {
  part[get_local_id(0)] = 1.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = part[63 - get_local_id(0)];
}
