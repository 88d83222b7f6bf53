// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: kernel_under_a_macro\.cl:7: no kernel found: this one is under '#if defined\(BUILD_SCALE\)' \(line 6\), which does not hold; -D BUILD_SCALE

typedef float real;
#if defined(BUILD_SCALE)
__kernel void scale(__global real* a) { a[get_global_id(0)] *= 2; }
#endif
