// Keywords, index variables, barriers, fences and clocks of CUDA and HIP device code.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __maxnreg__(n)
#define __cluster_dims__(...) __attribute__((annotate("kc_cluster", __VA_ARGS__)))
#define __block_size__(...)
#define __nv_pure__ __attribute__((pure))
#define __location__(a) __attribute__((a))
#define CUDARTAPI
#define CUDAAPI
#define CUDART_CB
#define CUDA_CB
#define KC_D static __inline__ __attribute__((always_inline, unused, nodebug, device))
#define KC_HD static __inline__ __attribute__((always_inline, unused, nodebug, host, device))
#define KC_EXTERN extern __attribute__((device))
#define KC_PURE extern __attribute__((device, const, nothrow))

typedef __SIZE_TYPE__ size_t;
typedef long clock_t;  // as <time.h> has it
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef long int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef unsigned long uint64_t;
// Limits of these types, which the vendor's compilers bring along.
#ifndef INT8_MAX
#define INT8_MAX __INT8_MAX__
#define INT8_MIN (-__INT8_MAX__ - 1)
#endif
#ifndef UINT8_MAX
#define UINT8_MAX __UINT8_MAX__
#endif
#ifndef INT16_MAX
#define INT16_MAX __INT16_MAX__
#define INT16_MIN (-__INT16_MAX__ - 1)
#endif
#ifndef UINT16_MAX
#define UINT16_MAX __UINT16_MAX__
#endif
#ifndef INT32_MAX
#define INT32_MAX __INT32_MAX__
#define INT32_MIN (-__INT32_MAX__ - 1)
#endif
#ifndef UINT32_MAX
#define UINT32_MAX __UINT32_MAX__
#endif
#ifndef INT64_MAX
#define INT64_MAX __INT64_MAX__
#define INT64_MIN (-__INT64_MAX__ - 1)
#endif
#ifndef UINT64_MAX
#define UINT64_MAX __UINT64_MAX__
#endif
#ifndef SIZE_MAX
#define SIZE_MAX __SIZE_MAX__
#endif
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
#ifndef NULL
#define NULL __null
#endif


// nvcc reads the C library's limits before every source.
#ifndef INT_MAX
#define CHAR_BIT 8
#define SHRT_MAX 32767
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
#endif

struct uint3 { unsigned int x, y, z; };
struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

// blockDim and gridDim have no register on AMD devices: these are OpenCL's functions.
KC_PURE size_t __kc_local_size(unsigned int) __asm__("_Z14get_local_sizej");
KC_PURE size_t __kc_num_groups(unsigned int) __asm__("_Z14get_num_groupsj");

#define KC_FIELD(field, expression)                                     \
  __declspec(property(get = __get_##field)) unsigned int field;         \
  static __inline__ __attribute__((always_inline, nodebug, device)) unsigned int __get_##field() { return expression; }
#define KC_INDEX(name, X, Y, Z)                                                     \
  struct __kc_##name##_t {                                                          \
    KC_FIELD(x, X) KC_FIELD(y, Y) KC_FIELD(z, Z)                                    \
    __attribute__((always_inline, nodebug, device)) operator uint3() const { return uint3{X, Y, Z}; }   \
    __attribute__((always_inline, nodebug, device)) operator dim3() const { return dim3(X, Y, Z); }     \
  };                                                                                \
  extern const __attribute__((device, weak)) __kc_##name##_t name;
#ifdef __NVPTX__
KC_INDEX(threadIdx, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(), __nvvm_read_ptx_sreg_tid_z())
KC_INDEX(blockIdx, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(), __nvvm_read_ptx_sreg_ctaid_z())
KC_INDEX(blockDim, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(), __nvvm_read_ptx_sreg_ntid_z())
KC_INDEX(gridDim, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(), __nvvm_read_ptx_sreg_nctaid_z())
#else
KC_INDEX(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
KC_INDEX(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
KC_INDEX(blockDim, (unsigned)__kc_local_size(0), (unsigned)__kc_local_size(1), (unsigned)__kc_local_size(2))
KC_INDEX(gridDim, (unsigned)__kc_num_groups(0), (unsigned)__kc_num_groups(1), (unsigned)__kc_num_groups(2))
#endif
static __attribute__((device, unused)) const int warpSize = __KERNELCAST_WARP_SIZE;

#ifdef __NVPTX__
// __syncthreads is a builtin of clang.
KC_D int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
KC_D int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
KC_D int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
KC_D void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
KC_D void __threadfence() { __nvvm_membar_gl(); }
KC_D void __threadfence_block() { __nvvm_membar_cta(); }
KC_D void __threadfence_system() { __nvvm_membar_sys(); }
KC_D long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
KC_D clock_t clock() { return __nvvm_read_ptx_sreg_clock(); }
KC_D void __trap() { __builtin_trap(); }
#else
KC_D void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KC_EXTERN int __kc_group_all(int) __asm__("_Z14work_group_alli");
KC_EXTERN int __kc_group_any(int) __asm__("_Z14work_group_anyi");
KC_EXTERN int __kc_group_add(int) __asm__("_Z21work_group_reduce_addi");
KC_D int __syncthreads_count(int p) { return __kc_group_add(p != 0); }
KC_D int __syncthreads_and(int p) { return __kc_group_all(p); }
KC_D int __syncthreads_or(int p) { return __kc_group_any(p); }
KC_D void __syncwarp(unsigned long long = 0) { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"); __builtin_amdgcn_wave_barrier(); }
KC_D void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
KC_D void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
KC_D void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
KC_D long long clock64() { return (long long)__builtin_readcyclecounter(); }
KC_D clock_t clock() { return (long)__builtin_readcyclecounter(); }
KC_D long long wall_clock64() { return (long long)__builtin_readcyclecounter(); }
KC_D void __trap() { __builtin_trap(); }
#endif
KC_D void __nanosleep(unsigned int) {}
KC_D void __brkpt(int = 0) {}
KC_D void __prof_trigger(int) {}

// Accepted, without cost: output and checks inside kernels.
extern "C" __attribute__((device)) int printf(const char*, ...);
extern "C" __attribute__((device)) void* malloc(size_t);
extern "C" __attribute__((device)) void free(void*);
#define assert(...) ((void)0)
// Placement; templates, since Clang's own <new> has the others.
template <class T> __attribute__((device)) inline void* operator new(size_t, T* place) noexcept { return (void*)place; }
template <class T> __attribute__((device)) inline void* operator new[](size_t, T* place) noexcept { return (void*)place; }
KC_D void* memcpy(void* to, const void* from, size_t n) { return __builtin_memcpy(to, from, n); }
KC_D void* memset(void* to, int c, size_t n) { return __builtin_memset(to, c, n); }
KC_D void* memmove(void* to, const void* from, size_t n) { return __builtin_memmove(to, from, n); }

// Address spaces.
#ifdef __NVPTX__
KC_D unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
KC_D unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
KC_D size_t __cvta_generic_to_shared(const void* p) { return (size_t)(__attribute__((address_space(3))) const void*)p; }
KC_D size_t __cvta_generic_to_global(const void* p) { return (size_t)(__attribute__((address_space(1))) const void*)p; }
#endif

template <class T, class U> struct __kc_same { static constexpr bool value = false; };
template <class T> struct __kc_same<T, T> { static constexpr bool value = true; };
template <bool B, class T = void> struct __kc_enable {};
template <class T> struct __kc_enable<true, T> { typedef T type; };
