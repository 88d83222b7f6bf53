// ARGS: predict {} --device v100 --grid 1 --block 64 --arg n=64
// EXIT: 1
// STDERR: unknown_type_in_struct\.cu:6:17: error: unknown type name 'XMFLOAT3'
// The type's error stands outside of device code, and only the kernel's use of it makes it matter.

struct Vertex { XMFLOAT3 position; float w; };
__global__ void k(Vertex* a, unsigned n) {
  if (threadIdx.x < n) a[threadIdx.x].position.x = n;
}
