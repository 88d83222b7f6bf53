// Random numbers in kernels: each draw is a call of kc_rand_*.
#pragma once

typedef int curandStatus_t;
struct curandStateXORWOW { unsigned int d, v[5]; int flag; float extra; double extra_double; };
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned int state; float extra; };
struct curandStateMRG32k3a { unsigned int s1[3], s2[3]; int flag; float extra; };
typedef curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandGenerator_impl* curandGenerator_t;
extern "C" __attribute__((device)) void kc_rand_init(void*, unsigned long long, unsigned long long, unsigned long long);
extern "C" __attribute__((device)) unsigned int kc_rand(void*);
extern "C" __attribute__((device)) float kc_rand_uniform(void*);
extern "C" __attribute__((device)) float kc_rand_normal(void*);
extern "C" __attribute__((device)) double kc_rand_uniform_double(void*);
extern "C" __attribute__((device)) double kc_rand_normal_double(void*);
template <class S> KC_D void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S* s) { kc_rand_init(s, seed, sequence, offset); }
template <class S> KC_D unsigned int curand(S* s) { return kc_rand(s); }
template <class S> KC_D float curand_uniform(S* s) { return kc_rand_uniform(s); }
template <class S> KC_D float curand_normal(S* s) { return kc_rand_normal(s); }
template <class S> KC_D double curand_uniform_double(S* s) { return kc_rand_uniform_double(s); }
template <class S> KC_D double curand_normal_double(S* s) { return kc_rand_normal_double(s); }
template <class S> KC_D float2 curand_normal2(S* s) { return make_float2(kc_rand_normal(s), kc_rand_normal(s)); }
template <class S> KC_D float4 curand_uniform4(S* s) { return make_float4(kc_rand_uniform(s), kc_rand_uniform(s), kc_rand_uniform(s), kc_rand_uniform(s)); }
template <class S> KC_D float4 curand_normal4(S* s) { return make_float4(kc_rand_normal(s), kc_rand_normal(s), kc_rand_normal(s), kc_rand_normal(s)); }
template <class S> KC_D uint4 curand4(S* s) { return make_uint4(kc_rand(s), kc_rand(s), kc_rand(s), kc_rand(s)); }
template <class S> KC_D void skipahead(unsigned long long n, S* s) { kc_rand_init(s, 0, 0, n); }
