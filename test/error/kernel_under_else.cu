// ARGS: converge {} --device v100
// EXIT: 1
// STDERR: kernel_under_else\.cu:18: no kernel found: this one is under '#else' \(line 15\) of '#ifndef SINGLE' \(line 6\), which does not hold, as 1 more kernel is; give the macros of the program's build by -D

// The declaration is no kernel; nested conditions do not end the outer one.
#ifndef SINGLE
# define KERNEL __global__ void
#elif defined(MORE)
# ifdef NESTED
__global__ void declared(float* a);
# else
static int other;
# endif
// A comment with __global__ void none() {} is none.
#else

template <class T>
__global__ void scale(T* a) {
  a[threadIdx.x] *= 2;
}
__global__
# ifdef BOUNDED
__launch_bounds__(64)
# endif
void twice(float* a) { a[threadIdx.x] *= 2; }
#endif
