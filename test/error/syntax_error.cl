// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: syntax_error\.cl:8:\d+: error: expected ';'
// STDERR: out\[get_global_id\(0\)\] = 1\.0f
// STDERR: \^

__kernel void broken(__global float* out) {
  out[get_global_id(0)] = 1.0f
}
