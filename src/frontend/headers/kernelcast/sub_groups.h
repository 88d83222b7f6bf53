// OpenCL C: sub-groups as the warps of the device, and packed dot products. Clang declares these functions and libclc has no bodies for
// them, so their names become macros here. Reductions and scans take one exchange of registers a step, as compilers of GPUs make them
// (AMD's own library uses DPP moves in some steps, which are cheaper than the ds_bpermute here).
#pragma once

#define KC_SG static inline __attribute__((overloadable, always_inline, unused, nodebug))
#ifdef __NVPTX__
KC_SG uint __kc_sg_lane() { return __nvvm_read_ptx_sreg_laneid(); }
KC_SG int __kc_sg_from(int v, uint lane) { return __nvvm_shfl_sync_idx_i32(~0u, v, (int)lane, 31); }
KC_SG int __kc_sg_xor(int v, uint x) { return __nvvm_shfl_sync_bfly_i32(~0u, v, (int)x, 31); }
KC_SG int __kc_sg_up(int v, uint d) { return __nvvm_shfl_sync_up_i32(~0u, v, (int)d, 0); }
KC_SG int __kc_sg_down(int v, uint d) { return __nvvm_shfl_sync_down_i32(~0u, v, (int)d, 31); }
KC_SG ulong __kc_sg_ballot(int p) { return __nvvm_vote_ballot_sync(~0u, p != 0); }
KC_SG int __kc_sg_any(int p) { return __nvvm_vote_any_sync(~0u, p != 0); }
KC_SG int __kc_sg_all(int p) { return __nvvm_vote_all_sync(~0u, p != 0); }
#else
#if __KERNELCAST_WARP_SIZE == 64
KC_SG uint __kc_sg_lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
KC_SG ulong __kc_sg_ballot(int p) { return __builtin_amdgcn_uicmp((uint)p, 0u, 33); }
#else
KC_SG uint __kc_sg_lane() { return __builtin_amdgcn_mbcnt_lo(~0u, 0u); }
KC_SG ulong __kc_sg_ballot(int p) { return __builtin_amdgcn_ballot_w32(p != 0); }
#endif
KC_SG int __kc_sg_from(int v, uint lane) { return __builtin_amdgcn_ds_bpermute((int)(lane << 2), v); }
KC_SG int __kc_sg_xor(int v, uint x) { return __kc_sg_from(v, __kc_sg_lane() ^ x); }
KC_SG int __kc_sg_up(int v, uint d) { return __kc_sg_from(v, __kc_sg_lane() < d ? __kc_sg_lane() : __kc_sg_lane() - d); }
KC_SG int __kc_sg_down(int v, uint d) {
  const uint from = __kc_sg_lane() + d;
  return __kc_sg_from(v, from < __KERNELCAST_WARP_SIZE ? from : __kc_sg_lane());
}
KC_SG int __kc_sg_any(int p) { return __kc_sg_ballot(p) != 0; }
KC_SG int __kc_sg_all(int p) { return __kc_sg_ballot(p) == __kc_sg_ballot(1); }
#endif

// The four exchanges for each type: by 32-bit words.
#define KC_SG_WORD(kind, T, pack, unpack) KC_SG T __kc_sg_##kind(T v, uint n) { return unpack(__kc_sg_##kind(pack(v), n)); }
#define KC_SG_PAIR(kind, T, unpack)                                        \
  KC_SG T __kc_sg_##kind(T v, uint n) {                                    \
    const int2 w = as_int2(v);                                             \
    return unpack((int2)(__kc_sg_##kind(w.x, n), __kc_sg_##kind(w.y, n))); \
  }
#define KC_SG_WORDS(T, pack, unpack)                                            \
  KC_SG_WORD(from, T, pack, unpack) KC_SG_WORD(xor, T, pack, unpack)            \
  KC_SG_WORD(up, T, pack, unpack) KC_SG_WORD(down, T, pack, unpack)
#define KC_SG_PAIRS(T, unpack) KC_SG_PAIR(from, T, unpack) KC_SG_PAIR(xor, T, unpack) KC_SG_PAIR(up, T, unpack) KC_SG_PAIR(down, T, unpack)
KC_SG_WORDS(uint, as_int, as_uint) KC_SG_WORDS(float, as_int, as_float)
KC_SG_WORDS(char, convert_int, convert_char) KC_SG_WORDS(uchar, convert_int, convert_uchar)
KC_SG_WORDS(short, convert_int, convert_short) KC_SG_WORDS(ushort, convert_int, convert_ushort)
KC_SG_PAIRS(long, as_long) KC_SG_PAIRS(ulong, as_ulong)
#ifdef cl_khr_fp64
KC_SG_PAIRS(double, as_double)
#endif
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
KC_SG int __kc_sg_half_bits(half v) { return as_short(v); }
KC_SG half __kc_sg_half(int v) { return as_half((short)v); }
KC_SG_WORDS(half, __kc_sg_half_bits, __kc_sg_half)
#endif

#define KC_SG_FOLD(name, T, neutral, expression)                                                \
  KC_SG T __kc_sg_reduce_##name(T a) {                                                          \
    for (uint x = __KERNELCAST_WARP_SIZE / 2; x > 0; x >>= 1) {                                 \
      const T b = __kc_sg_xor(a, x);                                                            \
      a = expression;                                                                           \
    }                                                                                           \
    return a;                                                                                   \
  }                                                                                             \
  KC_SG T __kc_sg_inclusive_##name(T a) {                                                       \
    const uint lane = __kc_sg_lane();                                                           \
    for (uint d = 1; d < __KERNELCAST_WARP_SIZE; d <<= 1) {                                     \
      const T b = __kc_sg_up(a, d);                                                             \
      a = lane >= d ? (expression) : a;                                                         \
    }                                                                                           \
    return a;                                                                                   \
  }                                                                                             \
  KC_SG T __kc_sg_exclusive_##name(T a) {                                                       \
    const T before = __kc_sg_up(__kc_sg_inclusive_##name(a), 1u);                               \
    return __kc_sg_lane() == 0 ? (T)(neutral) : before;                                         \
  }
#define KC_SG_FOLDS(T, least, most) \
  KC_SG_FOLD(add, T, 0, a + b) KC_SG_FOLD(mul, T, 1, a * b) KC_SG_FOLD(min, T, most, min(a, b)) KC_SG_FOLD(max, T, least, max(a, b))
#define KC_SG_BITS(T) KC_SG_FOLD(and, T, ~(T)0, a & b) KC_SG_FOLD(or, T, 0, a | b) KC_SG_FOLD(xor, T, 0, a ^ b)
KC_SG_FOLDS(int, INT_MIN, INT_MAX) KC_SG_FOLDS(uint, 0, UINT_MAX) KC_SG_FOLDS(long, LONG_MIN, LONG_MAX) KC_SG_FOLDS(ulong, 0, ULONG_MAX)
KC_SG_BITS(int) KC_SG_BITS(uint) KC_SG_BITS(long) KC_SG_BITS(ulong)
KC_SG_FOLDS(float, -INFINITY, INFINITY)
#ifdef cl_khr_fp64
KC_SG_FOLDS(double, -(double)INFINITY, (double)INFINITY)
#endif
#ifdef cl_khr_fp16
KC_SG_FOLDS(half, -(half)INFINITY, (half)INFINITY)
#pragma OPENCL EXTENSION cl_khr_fp16 : disable
#endif

#define sub_group_any __kc_sg_any
#define sub_group_all __kc_sg_all
#define sub_group_broadcast __kc_sg_from
#define sub_group_non_uniform_broadcast __kc_sg_from
#define sub_group_broadcast_first(v) __kc_sg_from(v, 0u)
#define sub_group_shuffle __kc_sg_from
#define sub_group_shuffle_xor __kc_sg_xor
#define sub_group_shuffle_up __kc_sg_up
#define sub_group_shuffle_down __kc_sg_down
#define intel_sub_group_shuffle __kc_sg_from
#define intel_sub_group_shuffle_xor __kc_sg_xor
#define sub_group_elect() (__kc_sg_lane() == 0)
#define sub_group_ballot(p) ((uint4)((uint)__kc_sg_ballot(p), (uint)(__kc_sg_ballot(p) >> 32), 0u, 0u))
#define sub_group_reduce_add __kc_sg_reduce_add
#define sub_group_reduce_min __kc_sg_reduce_min
#define sub_group_reduce_max __kc_sg_reduce_max
#define sub_group_scan_inclusive_add __kc_sg_inclusive_add
#define sub_group_scan_inclusive_min __kc_sg_inclusive_min
#define sub_group_scan_inclusive_max __kc_sg_inclusive_max
#define sub_group_scan_exclusive_add __kc_sg_exclusive_add
#define sub_group_scan_exclusive_min __kc_sg_exclusive_min
#define sub_group_scan_exclusive_max __kc_sg_exclusive_max
#define sub_group_non_uniform_reduce_add __kc_sg_reduce_add
#define sub_group_non_uniform_reduce_mul __kc_sg_reduce_mul
#define sub_group_non_uniform_reduce_min __kc_sg_reduce_min
#define sub_group_non_uniform_reduce_max __kc_sg_reduce_max
#define sub_group_non_uniform_reduce_and __kc_sg_reduce_and
#define sub_group_non_uniform_reduce_or __kc_sg_reduce_or
#define sub_group_non_uniform_reduce_xor __kc_sg_reduce_xor
#define sub_group_non_uniform_scan_inclusive_add __kc_sg_inclusive_add
#define sub_group_non_uniform_scan_exclusive_add __kc_sg_exclusive_add

// cl_khr_integer_dot_product, packed: four products of bytes, summed; acc_sat adds with saturation.
#define KC_DOT4(name, T, A, B)                                                    \
  KC_SG T name(uint a, uint b) {                                                  \
    T r = 0;                                                                      \
    for (uint i = 0; i < 32; i += 8) r += (T)(A)(a >> i) * (T)(B)(b >> i);        \
    return r;                                                                     \
  }
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 610
#define KC_DP4A(name, T, types)                                                   \
  KC_SG T name(uint a, uint b) {                                                  \
    T r;                                                                          \
    __asm__("dp4a." types " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0)); \
    return r;                                                                     \
  }
KC_DP4A(__kc_dot_ss, int, "s32.s32") KC_DP4A(__kc_dot_uu, uint, "u32.u32")
#else
KC_DOT4(__kc_dot_ss, int, char, char) KC_DOT4(__kc_dot_uu, uint, uchar, uchar)
#endif
KC_DOT4(__kc_dot_su, int, char, uchar) KC_DOT4(__kc_dot_us, int, uchar, char)
#define dot_4x8packed_ss_int __kc_dot_ss
#define dot_4x8packed_uu_uint __kc_dot_uu
#define dot_4x8packed_su_int __kc_dot_su
#define dot_4x8packed_us_int __kc_dot_us
#define dot_acc_sat_4x8packed_ss_int(a, b, c) add_sat(__kc_dot_ss(a, b), (int)(c))
#define dot_acc_sat_4x8packed_uu_uint(a, b, c) add_sat(__kc_dot_uu(a, b), (uint)(c))
#define dot_acc_sat_4x8packed_su_int(a, b, c) add_sat(__kc_dot_su(a, b), (int)(c))
#define dot_acc_sat_4x8packed_us_int(a, b, c) add_sat(__kc_dot_us(a, b), (int)(c))
