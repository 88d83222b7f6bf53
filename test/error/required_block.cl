// ARGS: predict {} --device v100 --grid 16 --block 128
// EXIT: 2
// STDERR: requires blocks of 64.*--block

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void ones(__global float* out) {
  out[get_global_id(0)] = 1.0f;
}
