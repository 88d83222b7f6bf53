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
struct mtgp32_kernel_params;
struct curandStateMtgp32 { unsigned int s[1024]; int offset, pIdx; mtgp32_kernel_params* k; int precise_double_flag; };
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
template <class S>
KC_D void skipahead_subsequence(unsigned long long n, S* s) {
  kc_rand_init(s, 0, n, 0);
}
template <class S>
KC_D double4 curand_uniform4_double(S* s) {
  return make_double4(kc_rand_uniform_double(s), kc_rand_uniform_double(s), kc_rand_uniform_double(s),
                      kc_rand_uniform_double(s));
}
template <class S>
KC_D double4 curand_normal4_double(S* s) {
  return make_double4(kc_rand_normal_double(s), kc_rand_normal_double(s), kc_rand_normal_double(s),
                      kc_rand_normal_double(s));
}
template <class S>
KC_D float2 curand_log_normal2(S* s, float mean, float deviation) {
  return make_float2(curand_log_normal(s, mean, deviation), curand_log_normal(s, mean, deviation));
}
template <class S>
KC_D float4 curand_log_normal4(S* s, float mean, float deviation) {
  return make_float4(curand_log_normal(s, mean, deviation), curand_log_normal(s, mean, deviation),
                     curand_log_normal(s, mean, deviation), curand_log_normal(s, mean, deviation));
}
template <class S>
KC_D double2 curand_log_normal2_double(S* s, double mean, double deviation) {
  return make_double2(curand_log_normal_double(s, mean, deviation), curand_log_normal_double(s, mean, deviation));
}
template <class S>
KC_D double4 curand_log_normal4_double(S* s, double mean, double deviation) {
  return make_double4(curand_log_normal_double(s, mean, deviation), curand_log_normal_double(s, mean, deviation),
                      curand_log_normal_double(s, mean, deviation), curand_log_normal_double(s, mean, deviation));
}
/// Products of uniform numbers for small means (D. E. Knuth, "Seminumerical Algorithms", 3.4.1), else a rounded normal
/// number.
template <class S>
KC_D unsigned int curand_poisson(S* s, double mean) {
  if (mean >= 64) return (unsigned int)(mean + sqrt(mean) * kc_rand_normal_double(s) + 0.5);
  const float end = expf((float)-mean);
  unsigned int n = 0;
  for (float product = kc_rand_uniform(s); product > end; product *= kc_rand_uniform(s)) ++n;
  return n;
}
template <class S>
KC_D uint4 curand_poisson4(S* s, double mean) {
  return make_uint4(curand_poisson(s, mean), curand_poisson(s, mean), curand_poisson(s, mean), curand_poisson(s, mean));
}
// A discrete distribution as the host library makes it: columns of a histogram with an alternative each (method M2).
struct curandHistogramM2_st {
  unsigned int* V;
  unsigned int* host_V;
  double* K;
  double* host_K;
  unsigned int host_gen;
};
struct curandDistributionM2Shift_st {
  curandHistogramM2_st *histogram, *host_histogram;
  unsigned int shift, length, host_gen;
};
struct curandDiscreteDistribution_st {
  curandDiscreteDistribution_t self_host_ptr;
  curandDistributionM2Shift_st *M2, *host_M2;
  double stddev, mean;
  int method;
  unsigned int host_gen;
};
template <class S>
KC_D unsigned int curand_discrete(S* s, curandDiscreteDistribution_t d) {
  if (d->method != 5) return (unsigned int)(d->stddev * kc_rand_normal_double(s) + d->mean + 0.5);  // CURAND_M2
  const curandDistributionM2Shift_st* m = d->M2;
  const double u = kc_rand_uniform_double(s);
  unsigned int column = (unsigned int)(u * m->length);
  if (column >= m->length) column = m->length - 1;
  return m->shift + (u < m->histogram->K[column] ? column : m->histogram->V[column]);
}
template <class S>
KC_D uint4 curand_discrete4(S* s, curandDiscreteDistribution_t d) {
  return make_uint4(curand_discrete(s, d), curand_discrete(s, d), curand_discrete(s, d), curand_discrete(s, d));
}
struct mtgp32_kernel_params {
  unsigned int pos_tbl[200], param_tbl[200][16], temper_tbl[200][16], single_temper_tbl[200][16], sh1_tbl[200],
      sh2_tbl[200], mask[1];
};
typedef mtgp32_kernel_params mtgp32_kernel_params_t;
template <class S>
KC_D unsigned int curand_mtgp32_specific(S* s, unsigned char, unsigned char) {
  return kc_rand(s);
}
template <class S>
KC_D float curand_mtgp32_single(S* s) {
  return kc_rand_uniform(s);
}
template <class S>
KC_D float curand_mtgp32_single_specific(S* s, unsigned char, unsigned char) {
  return kc_rand_uniform(s);
}
