// ARGS: predict {} --device v100 --grid 1 --block 64 -o {}
// EXIT: 2
// STDERR: -o .*output_is_the_source\.cl: is read in this run, and would be written over; name another file

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1; }
