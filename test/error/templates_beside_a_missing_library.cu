// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: kernel templates
// STDERR: --kernel 'scale<\.\.\.>'

// A type of a library that is not there is a matter of host code: what the user misses is an instance.
static const char* text_of(const libraryStatus_t status) { return library_text(status); }

template <int N> __global__ void scale(float* a) { a[threadIdx.x] *= N; }
