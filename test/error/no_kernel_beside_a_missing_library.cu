// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: no_kernel_beside_a_missing_library\.cu: no kernel found .*and errors in host code
// STDERR: unknown type name 'libraryStatus_t'

// It launches kernels of other files: a type of a library is not what keeps it from a forecast.
static const char* text_of(const libraryStatus_t status) { return library_text(status); }
void launch_elsewhere(float* a);
