// Random numbers in kernels: each draw is a call of kc_rand_*.
#pragma once

typedef int curandStatus_t;
struct curandStateXORWOW { unsigned int d, v[5]; int flag; float extra; double extra_double; };
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned int state; float extra; };
struct curandStateMRG32k3a { unsigned int s1[3], s2[3]; int flag; float extra; };
typedef curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
struct curandStateSobol32 { unsigned int i, x, c, direction_vectors[32]; };
struct curandStateSobol64 { unsigned long long i, x, c, direction_vectors[64]; };
struct curandStateMtgp32 { unsigned int s[1024]; int offset, pIdx; void* k; };
typedef curandStateSobol32 curandStateSobol32_t, curandStateScrambledSobol32, curandStateScrambledSobol32_t;
typedef curandStateSobol64 curandStateSobol64_t, curandStateScrambledSobol64, curandStateScrambledSobol64_t;
typedef curandStateMtgp32 curandStateMtgp32_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
typedef struct curandDiscreteDistribution_st* curandDiscreteDistribution_t;
typedef int curandDirectionVectorSet_t, curandRngType_t, curandOrdering_t;
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
template <class V, class S> KC_D void curand_init(V* vectors, unsigned int offset, S* s) { kc_rand_init(s, *(unsigned int*)vectors, 0, offset); }
template <class V, class S> KC_D void curand_init(V* vectors, unsigned int scramble, unsigned int offset, S* s) { kc_rand_init(s, *(unsigned int*)vectors, scramble, offset); }
template <class S> KC_D double2 curand_uniform2_double(S* s) { return make_double2(kc_rand_uniform_double(s), kc_rand_uniform_double(s)); }
template <class S> KC_D double2 curand_normal2_double(S* s) { return make_double2(kc_rand_normal_double(s), kc_rand_normal_double(s)); }
template <class S> KC_D float curand_log_normal(S* s, float mean, float deviation) { return expf(mean + deviation * kc_rand_normal(s)); }
template <class S> KC_D double curand_log_normal_double(S* s, double mean, double deviation) { return exp(mean + deviation * kc_rand_normal_double(s)); }
template <class S> KC_D void skipahead_sequence(unsigned long long n, S* s) { kc_rand_init(s, 0, n, 0); }
template <class S> KC_D void skipahead(unsigned long long n, S* s) { kc_rand_init(s, 0, 0, n); }
