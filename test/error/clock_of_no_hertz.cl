// ARGS: predict {} --device v100 --grid 4 --block 64 --clock 1410
// EXIT: 2
// STDERR: --clock 1410: expected base, boost or 1e7 to 1e10 Hz, such as 1\.41e9, 1410MHz or 1\.41GHz

__kernel void ones(__global float* out) { out[get_global_id(0)] = 1.0f; }
