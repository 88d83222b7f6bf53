// Votes, shuffles, matches and reductions of a warp (AMD: a wavefront), with and without a mask.
#pragma once

#ifdef __NVPTX__
typedef unsigned int __kc_mask;
#define KC_FULL_MASK 0xffffffffu
KC_D unsigned int __ballot_sync(unsigned int m, int p) { return __nvvm_vote_ballot_sync(m, p); }
KC_D int __any_sync(unsigned int m, int p) { return __nvvm_vote_any_sync(m, p); }
KC_D int __all_sync(unsigned int m, int p) { return __nvvm_vote_all_sync(m, p); }
KC_D int __uni_sync(unsigned int m, int p) { return __nvvm_vote_uni_sync(m, p); }
KC_D unsigned int __activemask() { unsigned int m; __asm__ volatile("/* of CUDA */ activemask.b32 %0;" : "=r"(m)); return m; }
KC_D unsigned int __ballot(int p) { return __nvvm_vote_ballot_sync(KC_FULL_MASK, p); }
KC_D int __any(int p) { return __nvvm_vote_any_sync(KC_FULL_MASK, p); }
KC_D int __all(int p) { return __nvvm_vote_all_sync(KC_FULL_MASK, p); }
KC_D unsigned int __lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
KC_D int __kc_shfl_idx(__kc_mask m, int v, int lane, int w) { return __nvvm_shfl_sync_idx_i32(m, v, lane, ((32 - w) << 8) | 0x1f); }
KC_D int __kc_shfl_up(__kc_mask m, int v, unsigned int d, int w) { return __nvvm_shfl_sync_up_i32(m, v, (int)d, (32 - w) << 8); }
KC_D int __kc_shfl_down(__kc_mask m, int v, unsigned int d, int w) { return __nvvm_shfl_sync_down_i32(m, v, (int)d, ((32 - w) << 8) | 0x1f); }
KC_D int __kc_shfl_xor(__kc_mask m, int v, int x, int w) { return __nvvm_shfl_sync_bfly_i32(m, v, x, ((32 - w) << 8) | 0x1f); }
#else
typedef unsigned long long __kc_mask;
#define KC_FULL_MASK ~0ull
#if __KERNELCAST_WARP_SIZE == 64
KC_D unsigned long long __ballot(int p) { return __builtin_amdgcn_uicmp((unsigned)p, 0u, 33); }
KC_D unsigned int __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
#else
KC_D unsigned long long __ballot(int p) { return __builtin_amdgcn_ballot_w32(p != 0); }
KC_D unsigned int __lane_id() { return __builtin_amdgcn_mbcnt_lo(~0u, 0u); }
#endif
KC_D unsigned long long __activemask() { return __ballot(1); }
KC_D int __any(int p) { return __ballot(p) != 0; }
KC_D int __all(int p) { return __ballot(p) == __ballot(1); }
KC_D unsigned long long __ballot_sync(__kc_mask, int p) { return __ballot(p); }
KC_D int __any_sync(__kc_mask, int p) { return __any(p); }
KC_D int __all_sync(__kc_mask, int p) { return __all(p); }
KC_D int __kc_from_lane(int lane, int v) { return __builtin_amdgcn_ds_bpermute(lane << 2, v); }
KC_D int __kc_shfl_idx(__kc_mask, int v, int lane, int w) {
  const int self = (int)__lane_id();
  return __kc_from_lane((lane & (w - 1)) + (self & ~(w - 1)), v);
}
KC_D int __kc_shfl_up(__kc_mask, int v, unsigned int d, int w) {
  const int self = (int)__lane_id(), from = self - (int)d;
  return __kc_from_lane(from < (self & ~(w - 1)) ? self : from, v);
}
KC_D int __kc_shfl_down(__kc_mask, int v, unsigned int d, int w) {
  const int self = (int)__lane_id(), from = self + (int)d;
  return __kc_from_lane((int)((self & (w - 1)) + d) >= w ? self : from, v);
}
KC_D int __kc_shfl_xor(__kc_mask, int v, int x, int w) {
  const int self = (int)__lane_id(), from = self ^ x;
  return __kc_from_lane(from >= ((self + w) & ~(w - 1)) ? self : from, v);
}
#endif

struct __kc_halves { int low, high; };
#define KC_SHUFFLE32(kind, T, D)                                                                                                       \
  KC_D T __shfl##kind##_sync(__kc_mask m, T v, D d, int w = __KERNELCAST_WARP_SIZE) {                                                  \
    return __builtin_bit_cast(T, KC_SHFL(kind)(m, __builtin_bit_cast(int, v), d, w));                                                  \
  }                                                                                                                                    \
  KC_D T __shfl##kind(T v, D d, int w = __KERNELCAST_WARP_SIZE) { return __shfl##kind##_sync(KC_FULL_MASK, v, d, w); }
#define KC_SHUFFLE64(kind, T, D)                                                                                                       \
  KC_D T __shfl##kind##_sync(__kc_mask m, T v, D d, int w = __KERNELCAST_WARP_SIZE) {                                                  \
    __kc_halves h = __builtin_bit_cast(__kc_halves, v);                                                                                \
    h.low = KC_SHFL(kind)(m, h.low, d, w);                                                                                             \
    h.high = KC_SHFL(kind)(m, h.high, d, w);                                                                                           \
    return __builtin_bit_cast(T, h);                                                                                                   \
  }                                                                                                                                    \
  KC_D T __shfl##kind(T v, D d, int w = __KERNELCAST_WARP_SIZE) { return __shfl##kind##_sync(KC_FULL_MASK, v, d, w); }
#define KC_SHUFFLE(kind, D)                                                                                                            \
  KC_SHUFFLE32(kind, int, D) KC_SHUFFLE32(kind, unsigned int, D) KC_SHUFFLE32(kind, float, D) KC_SHUFFLE64(kind, long, D)              \
  KC_SHUFFLE64(kind, unsigned long, D) KC_SHUFFLE64(kind, long long, D) KC_SHUFFLE64(kind, unsigned long long, D)                      \
  KC_SHUFFLE64(kind, double, D)
#define KC_SHFL(kind) KC_SHFL_##kind
#define KC_SHFL_ __kc_shfl_idx
#define KC_SHFL__up __kc_shfl_up
#define KC_SHFL__down __kc_shfl_down
#define KC_SHFL__xor __kc_shfl_xor
KC_SHUFFLE(, int) KC_SHUFFLE(_up, unsigned int) KC_SHUFFLE(_down, unsigned int) KC_SHUFFLE(_xor, int)

// Values of any type from another lane, word by word.
#define KC_SHUFFLE_ANY(kind, D)                                                                              \
  template <class T> KC_D T __kc_any##kind(const T& v, D d, int w = __KERNELCAST_WARP_SIZE) {                \
    int words[(sizeof(T) + 3) / 4] = {};                                                                     \
    __builtin_memcpy(words, &v, sizeof(T));                                                                  \
    for (unsigned int i = 0; i < sizeof(words) / 4; ++i) words[i] = KC_SHFL(kind)(KC_FULL_MASK, words[i], d, w); \
    T out;                                                                                                   \
    __builtin_memcpy(&out, words, sizeof(T));                                                                \
    return out;                                                                                              \
  }
KC_SHUFFLE_ANY(, int) KC_SHUFFLE_ANY(_up, unsigned int) KC_SHUFFLE_ANY(_down, unsigned int) KC_SHUFFLE_ANY(_xor, int)

// Matches and reductions have instructions on newer NVIDIA devices only; elsewhere they take as many steps as there are bits or lanes.
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 700
#define KC_MATCH(T, bits, word)                                                                                                                     \
  KC_D unsigned int __match_any_sync(unsigned int m, T v) { return (unsigned)__nvvm_match_any_sync_i##bits(m, __builtin_bit_cast(word, v)); }        \
  KC_D unsigned int __match_all_sync(unsigned int m, T v, int* p) { return (unsigned)__nvvm_match_all_sync_i##bits##p(m, __builtin_bit_cast(word, v), p); }
KC_MATCH(unsigned int, 32, unsigned int) KC_MATCH(int, 32, unsigned int) KC_MATCH(float, 32, unsigned int)
KC_MATCH(unsigned long long, 64, long long) KC_MATCH(long long, 64, long long) KC_MATCH(unsigned long, 64, long long) KC_MATCH(long, 64, long long)
KC_MATCH(double, 64, long long)
#undef KC_MATCH
#else
template <class T> KC_D __kc_mask __match_any_sync(__kc_mask m, T v) {
  __kc_mask same = 0;
  for (int lane = 0; lane < __KERNELCAST_WARP_SIZE; ++lane) same |= (__kc_mask)(__shfl_sync(m, v, lane) == v) << lane;
  return same;
}
template <class T> KC_D __kc_mask __match_all_sync(__kc_mask m, T v, int* p) {
  *p = __all_sync(m, __shfl_sync(m, v, (int)__builtin_ctzll(m)) == v);
  return *p ? m : 0;
}
#endif
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
KC_D unsigned int __reduce_add_sync(unsigned int m, unsigned int v) { return (unsigned)__nvvm_redux_sync_add((int)v, (int)m); }
KC_D int __reduce_add_sync(unsigned int m, int v) { return __nvvm_redux_sync_add(v, (int)m); }
KC_D unsigned int __reduce_min_sync(unsigned int m, unsigned int v) { return __nvvm_redux_sync_umin(v, (int)m); }
KC_D int __reduce_min_sync(unsigned int m, int v) { return __nvvm_redux_sync_min(v, (int)m); }
KC_D unsigned int __reduce_max_sync(unsigned int m, unsigned int v) { return __nvvm_redux_sync_umax(v, (int)m); }
KC_D int __reduce_max_sync(unsigned int m, int v) { return __nvvm_redux_sync_max(v, (int)m); }
KC_D unsigned int __reduce_and_sync(unsigned int m, unsigned int v) { return (unsigned)__nvvm_redux_sync_and((int)v, (int)m); }
KC_D unsigned int __reduce_or_sync(unsigned int m, unsigned int v) { return (unsigned)__nvvm_redux_sync_or((int)v, (int)m); }
KC_D unsigned int __reduce_xor_sync(unsigned int m, unsigned int v) { return (unsigned)__nvvm_redux_sync_xor((int)v, (int)m); }
#else
#define KC_REDUCE(name, expression)                                                            \
  template <class T> KC_D T __reduce_##name##_sync(__kc_mask m, T a) {                         \
    for (int x = __KERNELCAST_WARP_SIZE / 2; x > 0; x >>= 1) { T b = __shfl_xor_sync(m, a, x); a = expression; } \
    return a;                                                                                  \
  }
KC_REDUCE(add, a + b) KC_REDUCE(min, b < a ? b : a) KC_REDUCE(max, a < b ? b : a) KC_REDUCE(and, a & b) KC_REDUCE(or, a | b) KC_REDUCE(xor, a ^ b)
#undef KC_REDUCE
#endif
