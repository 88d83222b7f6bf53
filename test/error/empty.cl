// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: no kernel
