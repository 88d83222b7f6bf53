// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: kernel templates
// STDERR: --kernel 'ns::scale<\.\.\.>'

namespace ns {
template <int N> __global__ void scale(float* a) { a[threadIdx.x] *= N; }
}
