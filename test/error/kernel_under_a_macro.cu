// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: kernel_under_a_macro\.cu:13: no kernel found: this one is under '#ifdef USE_HIP' \(line 11\), which does not hold; -D USE_HIP
// STDERR: note: the header 'no_such_library\.h' was not found

#include "no_such_library.h"

// What no header declares is host code: the macro is what the user misses.
static libraryStatus_t multiply(const libraryComputeType_t type) { return library_multiply(type); }

#ifdef USE_HIP

__global__ void scale(float* a) { a[threadIdx.x] *= 2; }

#endif
