/* Which policy pays, from a sample of the pattern. Plain C that C++, CUDA, HIP and OpenCL C compilers all take.
 *
 * Rates are passes of a path for each iteration, at fair but changing lanes that are many (docs/reference/converge.md derives them):
 * plain 2, round robin and majority 2 - f, advance 2 / (1 + f'), advance in order 2 - f, with f the share of neighbouring
 * iterations that take different paths. rho is the code in both paths over the code outside, eta the cost of the policy
 * in a trip over the code outside. */
#ifndef CONVERGE_POLICY_H
#define CONVERGE_POLICY_H

/* As numbers, because OpenCL C has no scoped enumerations. */
#define CONVERGE_PLAIN 0
#define CONVERGE_MAJORITY 1
#define CONVERGE_ROUND_ROBIN 2
#define CONVERGE_ADVANCE 3
#define CONVERGE_ADVANCE_IN_ORDER 4
#define CONVERGE_AUTO 5

/* What CONVERGE_AUTO may choose from. Postponing and advancing in order keep each lane's own order of iterations; advancing
 * does not. Both kinds of advance need the condition before the iteration in front of it has run. */
#define CONVERGE_ALLOW_POSTPONE 1
#define CONVERGE_ALLOW_ADVANCE_IN_ORDER 2
#define CONVERGE_ALLOW_ADVANCE 4

/* Majority: steps after which the path that fewer lanes want is run once. */
#define CONVERGE_FLUSH 8
/* Iterations of the sample that CONVERGE_AUTO takes, run as plain does. */
#define CONVERGE_SAMPLE 32
/* A policy must promise this much to be taken instead of plain. */
#define CONVERGE_MARGIN 1.03f

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDA__) || defined(__HIP__)
#define CONVERGE_FUNCTION __host__ __device__ static inline
#elif defined(__OPENCL_VERSION__)
#define CONVERGE_FUNCTION
#else
#define CONVERGE_FUNCTION static inline
#endif

/* What a policy gains over plain. `paths` is the mean number of paths that an iteration of the sample took (1 to 2), `share`
 * that of iterations that took T, `flips` that of neighbours that differ. */
CONVERGE_FUNCTION float converge_gain(int policy, float paths, float share, float flips, float rho, float eta) {
  const float plain = paths * 0.5f * rho + 1.0f;
  const float least = share < 1.0f - share ? share : 1.0f - share;
  float x, y, saved, passes;
  if (policy == CONVERGE_PLAIN) return 1.0f;
  if (least <= 0.0f || flips <= 0.0f) return 0.0f;
  if (flips > 2.0f * least) flips = 2.0f * least;
  x = flips / (2.0f * share);          /* from T to F */
  y = flips / (2.0f * (1.0f - share)); /* from F to T */
  if (policy == CONVERGE_ADVANCE) {
    saved = x * y < 1.0f ? 0.5f * flips * (2.0f - x - y) / (1.0f - x * y) : 0.5f;
    passes = paths * (1.0f - saved);
    return plain / (passes * (0.5f * rho + 1.0f) + (1.0f - saved) * eta);
  }
  passes = paths * (1.0f - 0.5f * flips);
  if (policy == CONVERGE_ADVANCE_IN_ORDER) return plain / (passes * (0.5f * rho + 1.0f) + 0.5f * passes * eta);
  return plain / (passes * (0.5f * rho + 1.0f + eta));
}

CONVERGE_FUNCTION int converge_choose(int allowed, float paths, float share, float flips, float rho, float eta) {
  int best = CONVERGE_PLAIN, policy;
  float gain = CONVERGE_MARGIN;
  for (policy = CONVERGE_ROUND_ROBIN; policy <= CONVERGE_ADVANCE_IN_ORDER; ++policy) {
    const int needs = policy == CONVERGE_ADVANCE            ? CONVERGE_ALLOW_ADVANCE
                      : policy == CONVERGE_ADVANCE_IN_ORDER ? CONVERGE_ALLOW_ADVANCE_IN_ORDER
                                                            : CONVERGE_ALLOW_POSTPONE;
    const float promised = converge_gain(policy, paths, share, flips, rho, eta);
    if ((allowed & needs) == 0 || promised <= gain) continue;
    best = policy;
    gain = promised;
  }
  /* A rare path is better gathered than served in turn; the flush keeps it from starving. */
  if (best == CONVERGE_ROUND_ROBIN && (share < 0.25f || share > 0.75f)) best = CONVERGE_MAJORITY;
  return best;
}

#endif
