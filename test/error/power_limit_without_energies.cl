// ARGS: predict {} --device v100 --grid 4 --block 64 --power-limit 250
// EXIT: 2
// STDERR: Tesla V100.*: --power-limit needs to know what work draws; give --clock, or set energy\.tensor_clock_hz in 

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
