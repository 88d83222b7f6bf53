// Random numbers in kernels: generators of cuRAND, written anew after their publications. MTGP32, whose state a block
// shares, stays a call of kc_rand.
#pragma once

typedef int curandStatus_t;
struct curandStateXORWOW { unsigned int d, v[5]; int flag, flag_double; float extra; double extra_double; };
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned int state; int flag, flag_double; float extra; double extra_double; };
struct curandStateMRG32k3a { unsigned int s1[3], s2[3]; int flag, flag_double; float extra; double extra_double; };
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

// XORWOW: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003). A jump by 4^k numbers or sequences
// multiplies the state, 160 bits, by a matrix of the library. Their contents are not here: the products cost what they
// cost there, and a mixing of the jump's length sets the sequences apart.
__attribute__((device)) unsigned int kc_xorwow_jumps[2][32][800];
KC_D void kc_xorwow_multiply(unsigned int* v, const unsigned int* matrix) {
  unsigned int sum[5] = {0, 0, 0, 0, 0};
#pragma unroll 1
  for (int i = 0; i < 5; ++i)
#pragma unroll 1
    for (int j = 0; j < 32; ++j)
      if (v[i] & (1U << j))
        for (int k = 0; k < 5; ++k) sum[k] ^= matrix[5 * (32 * i + j) + k];
  for (int i = 0; i < 5; ++i) v[i] = sum[i];
}
KC_D void kc_xorwow_jump(curandStateXORWOW* s, unsigned long long n, int table) {
  unsigned int mixed = (unsigned int)n * 0x9E3779B9U ^ (unsigned int)(n >> 32);
  int matrix = 0;
#pragma unroll 1
  for (unsigned long long left = n; left != 0; left >>= 2, ++matrix)
#pragma unroll 1
    for (unsigned int t = 0; t < (left & 3); ++t) kc_xorwow_multiply(s->v, kc_xorwow_jumps[table][matrix]);
  if (n != 0)
    for (int i = 0; i < 5; ++i) s->v[i] ^= mixed = mixed * 0x85EBCA6BU + 0xC2B2AE35U;
}
KC_D void kc_rand_init(curandStateXORWOW* s, unsigned long long seed, unsigned long long sequence,
                       unsigned long long offset) {
  const unsigned int low = 0x4182BED5U * ((unsigned int)seed ^ 0xAAD26B49U);
  const unsigned int high = 0x9A7D6AFBU * ((unsigned int)(seed >> 32) ^ 0xF7DCEFDDU);
  s->d = 6615241 + high + low;
  s->v[0] = 123456789U + low;
  s->v[1] = 362436069U ^ low;
  s->v[2] = 521288629U + high;
  s->v[3] = 88675123U ^ high;
  s->v[4] = 5783321U + low;
  kc_xorwow_jump(s, sequence, 0);
  kc_xorwow_jump(s, offset, 1);
  s->d += 362437U * (unsigned int)offset;
  s->flag = s->flag_double = 0;
}
KC_D unsigned int kc_rand(curandStateXORWOW* s) {
  const unsigned int t = s->v[0] ^ (s->v[0] >> 2);
  s->v[0] = s->v[1];
  s->v[1] = s->v[2];
  s->v[2] = s->v[3];
  s->v[3] = s->v[4];
  s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
  s->d += 362437U;
  return s->v[4] + s->d;
}

// Philox 4x32-10: J. K. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
KC_D uint4 kc_philox(uint4 c, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ULL * c.x, b = 0xCD9E8D57ULL * c.z;
    c = make_uint4((unsigned int)(b >> 32) ^ c.y ^ key.x, (unsigned int)b, (unsigned int)(a >> 32) ^ c.w ^ key.y,
                   (unsigned int)a);
    key.x += 0x9E3779B9U;
    key.y += 0xBB67AE85U;
  }
  return c;
}
/// Without branches, where the library leaves after a sum without a carry: they would ask for an argument.
KC_D void kc_philox_add(uint4* c, unsigned long long n) {
  const unsigned long long low = ((unsigned long long)c->y << 32 | c->x) + n;
  const unsigned long long high = ((unsigned long long)c->w << 32 | c->z) + (low < n);
  *c = make_uint4((unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high, (unsigned int)(high >> 32));
}
KC_D void kc_philox_next(curandStatePhilox4_32_10* s) {
  kc_philox_add(&s->ctr, 1);
  s->output = kc_philox(s->ctr, s->key);
}
KC_D void kc_rand_init(curandStatePhilox4_32_10* s, unsigned long long seed, unsigned long long sequence,
                       unsigned long long offset) {
  s->ctr = make_uint4(0, 0, (unsigned int)sequence, (unsigned int)(sequence >> 32));
  s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  // An offset that only the launch knows is taken as a multiple of four: which of four numbers is next shall not ask for
  // an argument.
  s->state = __builtin_constant_p(offset) ? (unsigned int)offset & 3 : 0;
  s->flag = s->flag_double = 0;
  kc_philox_add(&s->ctr, offset >> 2);
  s->output = kc_philox(s->ctr, s->key);
}
KC_D unsigned int kc_rand(curandStatePhilox4_32_10* s) {
  const unsigned int place = s->state++;
  const unsigned int drawn = place == 0 ? s->output.x : place == 1 ? s->output.y : place == 2 ? s->output.z : s->output.w;
  if (s->state == 4) {
    kc_philox_next(s);
    s->state = 0;
  }
  return drawn;
}
KC_D uint4 kc_rand4(curandStatePhilox4_32_10* s) {
  const uint4 a = s->output;
  kc_philox_next(s);
  const uint4 b = s->output;
  switch (s->state) {
    case 1:
      return make_uint4(a.y, a.z, a.w, b.x);
    case 2:
      return make_uint4(a.z, a.w, b.x, b.y);
    case 3:
      return make_uint4(a.w, b.x, b.y, b.z);
    default:
      return a;
  }
}

// MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
// generators", Operations Research 47 (1999). A jump takes powers of two matrices of 3 x 3.
KC_D unsigned int kc_mrg_reduced(unsigned long long n, unsigned long long below) {
  n = (n >> 32) * below + (n & 0xFFFFFFFFULL);
  n = (n >> 32) * below + (n & 0xFFFFFFFFULL);
  const unsigned long long modulus = 4294967296ULL - below;
  return (unsigned int)(n >= modulus ? n - modulus : n);
}
KC_D void kc_mrg_multiply(const unsigned int (&m)[3][3], unsigned int* v, unsigned long long below) {
  unsigned int r[3];
  for (int i = 0; i < 3; ++i) {
    unsigned int sum = 0;
    for (int k = 0; k < 3; ++k) sum = kc_mrg_reduced((unsigned long long)m[i][k] * v[k] + sum, below);
    r[i] = sum;
  }
  for (int i = 0; i < 3; ++i) v[i] = r[i];
}
KC_D void kc_mrg_jump(unsigned int (&m)[3][3], unsigned int* v, unsigned long long n, unsigned long long below) {
#pragma unroll 1
  for (; n != 0; n >>= 1) {
    if (n & 1) kc_mrg_multiply(m, v, below);
    unsigned int columns[3][3];
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 3; ++i) columns[k][i] = m[i][k];
      kc_mrg_multiply(m, columns[k], below);
    }
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) m[i][k] = columns[k][i];
  }
}
/// A sequence is 2^67 numbers.
KC_D void kc_mrg_skip(curandStateMRG32k3a* s, unsigned long long sequences, unsigned long long numbers) {
  unsigned int a67[3][3] = {{3894793123U, 921712152U, 596236860U},
                             {4038673596U, 4279784147U, 921712152U},
                             {1999065039U, 859801225U, 4279784147U}};
  unsigned int b67[3][3] = {{613698149U, 3416334823U, 3832821180U},
                             {1308958254U, 613698149U, 1338381534U},
                             {4058246217U, 1308958254U, 2070907998U}};
  kc_mrg_jump(a67, s->s1, sequences, 209);
  kc_mrg_jump(b67, s->s2, sequences, 22853);
  unsigned int a[3][3] = {{0, 1, 0}, {0, 0, 1}, {4294156359U, 1403580U, 0}};
  unsigned int b[3][3] = {{0, 1, 0}, {0, 0, 1}, {4293573854U, 0, 527612U}};
  kc_mrg_jump(a, s->s1, numbers, 209);
  kc_mrg_jump(b, s->s2, numbers, 22853);
}
KC_D void kc_rand_init(curandStateMRG32k3a* s, unsigned long long seed, unsigned long long sequence,
                       unsigned long long offset) {
  const unsigned int low = (unsigned int)seed ^ 0x55555555U, high = (unsigned int)(seed >> 32) ^ 0xAAAAAAAAU;
  for (int i = 0; i < 3; ++i) {
    s->s1[i] = kc_mrg_reduced(12345ULL * (i == 1 ? high : low), 209);
    s->s2[i] = kc_mrg_reduced(12345ULL * (i == 1 ? low : high), 22853);
  }
  kc_mrg_skip(s, sequence, offset);
  s->flag = s->flag_double = 0;
}
/// 1 to 2^32 - 209. The library computes in double precision from Volta on.
KC_D double kc_mrg(curandStateMRG32k3a* s) {
  constexpr double m1 = 4294967087., m2 = 4294944443.;
  double p = 1403580. * s->s1[1] - 810728. * s->s1[0];
  p -= trunc(fma(p, 2.3283065498378290e-10, p * -1.7354913086174288e-26)) * m1;
  if (p < 0) p += m1;
  s->s1[0] = s->s1[1];
  s->s1[1] = s->s1[2];
  s->s1[2] = (unsigned int)p;
  double q = 527612. * s->s2[2] - 1370589. * s->s2[0];
  q -= trunc(fma(q, 2.3283188252407387e-10, q * 2.4081018096503646e-26)) * m2;
  if (q < 0) q += m2;
  s->s2[0] = s->s2[1];
  s->s2[1] = s->s2[2];
  s->s2[2] = (unsigned int)q;
  return p <= q ? p - q + m1 : p - q;
}
KC_D unsigned int kc_rand(curandStateMRG32k3a* s) { return (unsigned int)(kc_mrg(s) * 1.000000048662); }

// Sobol's sequences: P. Bratley, B. L. Fox, "Algorithm 659", ACM Transactions on Mathematical Software 14 (1988).
KC_D void kc_rand_init(curandStateSobol32* s, const unsigned int* vectors, unsigned int scramble, unsigned int offset) {
  s->i = 0;
  s->x = s->c = scramble;
  for (int k = 0; k < 32; ++k) s->direction_vectors[k] = vectors[k];
  for (unsigned int gray = offset ^ (offset >> 1), k = 0; gray != 0; gray >>= 1, ++k)
    if (gray & 1) s->x ^= s->direction_vectors[k];
  s->i = offset;
}
KC_D void kc_rand_init(curandStateSobol64* s, const unsigned long long* vectors, unsigned long long scramble,
                       unsigned long long offset) {
  s->i = 0;
  s->x = s->c = scramble;
  for (int k = 0; k < 64; ++k) s->direction_vectors[k] = vectors[k];
  for (unsigned long long gray = offset ^ (offset >> 1), k = 0; gray != 0; gray >>= 1, ++k)
    if (gray & 1) s->x ^= s->direction_vectors[k];
  s->i = offset;
}
KC_D unsigned int kc_rand(curandStateSobol32* s) {
  const unsigned int drawn = s->x;
  s->x ^= s->direction_vectors[__ffs((int)~s->i) - 1];
  ++s->i;
  return drawn;
}
KC_D unsigned long long kc_rand(curandStateSobol64* s) {
  const unsigned long long drawn = s->x;
  s->x ^= s->direction_vectors[__ffsll((long long)~s->i) - 1];
  ++s->i;
  return drawn;
}
KC_D unsigned int kc_rand(curandStateMtgp32* s) { return kc_rand((void*)s); }

template <class S> KC_D float kc_rand_uniform(S* s) {
  return (float)(unsigned int)kc_rand(s) * 2.3283064e-10f + 1.1641532e-10f;
}
KC_D float kc_rand_uniform(curandStateSobol64* s) {
  return (float)(kc_rand(s) >> 32) * 2.3283064e-10f + 1.1641532e-10f;
}
KC_D float kc_rand_uniform(curandStateMRG32k3a* s) { return (float)(kc_mrg(s) * 2.328306549295728e-10); }
template <class S> KC_D double kc_rand_uniform_double(S* s) {
  return (unsigned int)kc_rand(s) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
}
KC_D double kc_53_bits(unsigned int low, unsigned int high) {
  return ((unsigned long long)low ^ (unsigned long long)high << 21) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
KC_D double kc_rand_uniform_double(curandStateXORWOW* s) {
  const unsigned int low = kc_rand(s);
  return kc_53_bits(low, kc_rand(s));
}
KC_D double kc_rand_uniform_double(curandStateSobol64* s) {
  return (kc_rand(s) >> 11) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
KC_D double kc_rand_uniform_double(curandStateMRG32k3a* s) { return kc_mrg(s) * 2.328306549295728e-10; }

// Normal numbers: two of two uniform ones (G. E. P. Box, M. E. Muller, 1958), the second of which the state keeps; of
// one number by the inverse of the distribution for Sobol's sequences and MTGP32.
KC_D float2 kc_normal_pair(float u, float angle) {
  const float radius = sqrtf(-2.f * logf(u));
  float sine, cosine;
  __sincosf(angle, &sine, &cosine);
  return make_float2(sine * radius, cosine * radius);
}
KC_D float2 kc_normal_pair(unsigned int x, unsigned int y) {
  return kc_normal_pair((float)x * 2.3283064e-10f + 1.1641532e-10f, (float)y * 1.4629181e-9f + 7.3145906e-10f);
}
KC_D double2 kc_normal_pair_double(double u, double half_turns) {
  const double radius = sqrt(-2. * log(u));
  double sine, cosine;
  sincospi(half_turns, &sine, &cosine);
  return make_double2(sine * radius, cosine * radius);
}
template <class S> KC_D float kc_rand_normal(S* s) { return -1.4142135f * erfcinvf(2.f * kc_rand_uniform(s)); }
template <class S> KC_D double kc_rand_normal_double(S* s) {
  return -1.4142135623730951 * erfcinv(2. * kc_rand_uniform_double(s));
}
KC_D float2 kc_rand_normal2(curandStateXORWOW* s) {
  const unsigned int x = kc_rand(s);
  return kc_normal_pair(x, kc_rand(s));
}
KC_D float2 kc_rand_normal2(curandStatePhilox4_32_10* s) {
  const unsigned int x = kc_rand(s);
  return kc_normal_pair(x, kc_rand(s));
}
KC_D float2 kc_rand_normal2(curandStateMRG32k3a* s) {
  const float u = kc_rand_uniform(s);
  return kc_normal_pair(u, kc_rand_uniform(s) * 6.2831855f);
}
template <class S> KC_D float2 kc_rand_normal2(S* s) { return make_float2(kc_rand_normal(s), kc_rand_normal(s)); }
template <class S> KC_D double2 kc_pair_double(S* s) {
  const double u = kc_rand_uniform_double(s);
  return kc_normal_pair_double(u, 2. * kc_rand_uniform_double(s));
}
KC_D double2 kc_rand_normal2_double(curandStateXORWOW* s) { return kc_pair_double(s); }
KC_D double2 kc_rand_normal2_double(curandStateMRG32k3a* s) { return kc_pair_double(s); }
KC_D double2 kc_rand_normal2_double(curandStatePhilox4_32_10* s) {
  const uint4 x = kc_rand4(s);
  return kc_normal_pair_double(kc_53_bits(x.x, x.y), 2. * kc_53_bits(x.z, x.w));
}
template <class S> KC_D double2 kc_rand_normal2_double(S* s) {
  return make_double2(kc_rand_normal_double(s), kc_rand_normal_double(s));
}
template <class S> KC_D float kc_one_of_two(S* s) {
  if (s->flag != 0) {
    s->flag = 0;
    return s->extra;
  }
  const float2 two = kc_rand_normal2(s);
  s->extra = two.y;
  s->flag = 1;
  return two.x;
}
template <class S> KC_D double kc_one_of_two_double(S* s) {
  if (s->flag_double != 0) {
    s->flag_double = 0;
    return s->extra_double;
  }
  const double2 two = kc_rand_normal2_double(s);
  s->extra_double = two.y;
  s->flag_double = 1;
  return two.x;
}
KC_D float kc_rand_normal(curandStateXORWOW* s) { return kc_one_of_two(s); }
KC_D float kc_rand_normal(curandStateMRG32k3a* s) { return kc_one_of_two(s); }
KC_D float kc_rand_normal(curandStatePhilox4_32_10* s) { return kc_one_of_two(s); }
KC_D double kc_rand_normal_double(curandStateXORWOW* s) { return kc_one_of_two_double(s); }
KC_D double kc_rand_normal_double(curandStateMRG32k3a* s) { return kc_one_of_two_double(s); }
KC_D double kc_rand_normal_double(curandStatePhilox4_32_10* s) { return kc_one_of_two_double(s); }

template <class S> KC_D void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S* s) { kc_rand_init(s, seed, sequence, offset); }
template <class S> KC_D auto curand(S* s) { return kc_rand(s); }
template <class S> KC_D float curand_uniform(S* s) { return kc_rand_uniform(s); }
template <class S> KC_D float curand_normal(S* s) { return kc_rand_normal(s); }
template <class S> KC_D double curand_uniform_double(S* s) { return kc_rand_uniform_double(s); }
template <class S> KC_D double curand_normal_double(S* s) { return kc_rand_normal_double(s); }
template <class S> KC_D float2 curand_normal2(S* s) { return kc_rand_normal2(s); }
template <class S> KC_D double2 curand_normal2_double(S* s) { return kc_rand_normal2_double(s); }
template <class S> KC_D uint4 curand4(S* s) { return make_uint4(kc_rand(s), kc_rand(s), kc_rand(s), kc_rand(s)); }
KC_D uint4 curand4(curandStatePhilox4_32_10* s) { return kc_rand4(s); }
template <class S> KC_D float4 curand_uniform4(S* s) { return make_float4(kc_rand_uniform(s), kc_rand_uniform(s), kc_rand_uniform(s), kc_rand_uniform(s)); }
KC_D float4 curand_uniform4(curandStatePhilox4_32_10* s) {
  const uint4 x = kc_rand4(s);
  return make_float4((float)x.x * 2.3283064e-10f + 1.1641532e-10f, (float)x.y * 2.3283064e-10f + 1.1641532e-10f,
                     (float)x.z * 2.3283064e-10f + 1.1641532e-10f, (float)x.w * 2.3283064e-10f + 1.1641532e-10f);
}
template <class S> KC_D float4 curand_normal4(S* s) { return make_float4(kc_rand_normal(s), kc_rand_normal(s), kc_rand_normal(s), kc_rand_normal(s)); }
KC_D float4 curand_normal4(curandStatePhilox4_32_10* s) {
  const uint4 x = kc_rand4(s);
  const float2 a = kc_normal_pair(x.x, x.y), b = kc_normal_pair(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
template <class V, class S> KC_D void curand_init(V* vectors, unsigned int offset, S* s) { kc_rand_init(s, vectors, 0, offset); }
template <class V, class S> KC_D void curand_init(V* vectors, unsigned int scramble, unsigned int offset, S* s) { kc_rand_init(s, vectors, scramble, offset); }
template <class S> KC_D double2 curand_uniform2_double(S* s) { return make_double2(kc_rand_uniform_double(s), kc_rand_uniform_double(s)); }
KC_D double2 curand_uniform2_double(curandStatePhilox4_32_10* s) {
  const uint4 x = kc_rand4(s);
  return make_double2(kc_53_bits(x.x, x.y), kc_53_bits(x.z, x.w));
}
template <class S> KC_D float curand_log_normal(S* s, float mean, float deviation) { return expf(mean + deviation * kc_rand_normal(s)); }
template <class S> KC_D double curand_log_normal_double(S* s, double mean, double deviation) { return exp(mean + deviation * kc_rand_normal_double(s)); }
KC_D void skipahead_sequence(unsigned long long n, curandStateXORWOW* s) { kc_xorwow_jump(s, n, 0); }
KC_D void skipahead(unsigned long long n, curandStateXORWOW* s) {
  kc_xorwow_jump(s, n, 1);
  s->d += 362437U * (unsigned int)n;
}
KC_D void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* s) {
  s->ctr.z += (unsigned int)n;
  s->ctr.w += (unsigned int)(n >> 32) + (s->ctr.z < (unsigned int)n);
  s->output = kc_philox(s->ctr, s->key);
}
KC_D void skipahead(unsigned long long n, curandStatePhilox4_32_10* s) {
  s->state += (unsigned int)n & 3;
  n = (n >> 2) + (s->state > 3);
  s->state &= 3;
  kc_philox_add(&s->ctr, n);
  s->output = kc_philox(s->ctr, s->key);
}
KC_D void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* s) { kc_mrg_skip(s, n, 0); }
KC_D void skipahead(unsigned long long n, curandStateMRG32k3a* s) { kc_mrg_skip(s, 0, n); }
template <class S> KC_D void skipahead_sequence(unsigned long long n, S* s) { kc_rand_init((void*)s, 0, n, 0); }
template <class S> KC_D void skipahead(unsigned long long n, S* s) { kc_rand_init((void*)s, 0, 0, n); }
template <class S>
KC_D void skipahead_subsequence(unsigned long long n, S* s) {
  skipahead_sequence(n, s);
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
