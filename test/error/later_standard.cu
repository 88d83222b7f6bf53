// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: no member named 'ranges' in namespace 'std'
// STDERR: --std

#include <algorithm>

__global__ void largest(int* a) { a[0] = std::ranges::max(a[1], a[2]); }
