// What each policy gains on this machine's SIMD units, against the plain masked loop, over the ratio of branch code to other
// code and over the pattern. Writes CSV. Every sample runs all policies in turn in one process, so that a loaded machine
// slows them alike; a run is the ratio of times within one sample, and the report has the median over the samples with a
// bootstrap interval. Plain is the loop written by hand or, where that is faster on fair coins, the library's. Predictions
// come from the closed forms, with costs measured on loops that do not diverge.
//
//   sweep [--runs N] [--iterations N] [--chains N] > sweep.csv
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

#include "converge/cpu.h"
#include "kernelcast/converge.h"

HWY_BEFORE_NAMESPACE();
namespace sweep {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
using I = hn::Vec<DI>;

/// Which path: coins by a hash of lane and iteration, or shares of advanceable iterations by evenly spread changes.
struct Pattern {
  bool coins = true;
  std::uint32_t threshold = 0;  // of 2^32: T below
  std::uint32_t slope = 0;      // changes of path for each iteration, of 2^31
};

/// Bodies are chains of multiplications and additions: `path` for each lane in each path, `rest` outside. With one chain
/// all of them depend on one another.
template <int kChains>
struct Loop {
  Pattern pattern;
  int path, rest;  // rounds of kChains operations
  HWY_ALIGN std::uint32_t offset[16];
  V acc[kChains], acc2[kChains], out[kChains];  // of T, of F, of the rest

  Loop(Pattern p, int path_rounds, int rest_rounds) : pattern(p), path(path_rounds), rest(rest_rounds) {
    const D d;
    std::mt19937 random(99);
    for (auto& o : offset) o = static_cast<std::uint32_t>(random());
    for (int k = 0; k < kChains; ++k) {
      acc[k] = hn::Set(d, 1.0f + static_cast<float>(k) * 0.01f);
      acc2[k] = out[k] = acc[k];
    }
  }
  HWY_INLINE M condition(D d, I i, M) {
    const DU du;
    const auto n = hn::BitCast(du, i);
    const auto shift = hn::Load(du, offset);
    if (pattern.coins) {
      auto x = hn::Mul(hn::Add(n, shift), hn::Set(du, 0x9E3779B1U));
      x = hn::Xor(x, hn::ShiftRight<15>(x));
      x = hn::Mul(x, hn::Set(du, 0x85EBCA77U));
      x = hn::Xor(x, hn::ShiftRight<13>(x));
      return hn::RebindMask(d, hn::Lt(x, hn::Set(du, pattern.threshold)));
    }
    const auto x = hn::Add(hn::Mul(n, hn::Set(du, pattern.slope)), shift);
    return hn::RebindMask(d, hn::Lt(hn::BitCast(DI(), x), hn::Zero(DI())));
  }
  HWY_INLINE void work(D d, int rounds, float factor, float add, M lanes, V* into) {
    const V f = hn::Set(d, factor), a = hn::Set(d, add);
    V x[kChains];
    for (int k = 0; k < kChains; ++k) x[k] = into[k];
    for (int r = 0; r < rounds; ++r) {
      for (int k = 0; k < kChains; ++k) x[k] = hn::MulAdd(x[k], f, a);
    }
    for (int k = 0; k < kChains; ++k) into[k] = hn::IfThenElse(lanes, x[k], into[k]);
  }
  HWY_INLINE void taken(D d, I, M lanes) { work(d, path, 0.99f, 0.01f, lanes, acc); }
  HWY_INLINE void other(D d, I, M lanes) { work(d, path, 0.98f, 0.02f, lanes, acc2); }
  HWY_INLINE void tail(D d, I, M lanes) { work(d, rest, 0.97f, 0.03f, lanes, out); }
  float checksum() const {
    float sum = 0;
    for (int k = 0; k < kChains; ++k) sum += hn::GetLane(hn::SumOfLanes(D(), hn::Add(hn::Add(acc[k], acc2[k]), out[k])));
    return sum;
  }
};

/// The loop as one writes it by hand: all lanes in step, both paths under masks.
template <int kChains>
HWY_NOINLINE void plain_masked(Loop<kChains>& loop, std::int32_t iterations) {
  const D d;
  const M all = hn::FirstN(d, hn::Lanes(d));
  for (std::int32_t n = 0; n < iterations; ++n) {
    const I i = hn::Set(DI(), n);
    const M m = loop.condition(d, i, all);
    if (!hn::AllFalse(d, m)) loop.taken(d, i, m);
    if (!hn::AllTrue(d, m)) loop.other(d, i, hn::Not(m));
    loop.tail(d, i, all);
  }
}

template <int kChains>
HWY_NOINLINE void converged(Loop<kChains>& loop, std::int32_t iterations, int policy, converge::Chooser* chooser) {
  converge::Options options;
  options.policy = policy;
  options.allow = CONVERGE_ALLOW_POSTPONE | CONVERGE_ALLOW_ADVANCE | CONVERGE_ALLOW_ADVANCE_IN_ORDER;
  converge::HWY_NAMESPACE::run(D(), loop, hn::Set(DI(), iterations), options, chooser);
}

}  // namespace HWY_NAMESPACE
}  // namespace sweep
HWY_AFTER_NAMESPACE();

namespace sweep {
namespace {

using namespace HWY_NAMESPACE;

constexpr int by_hand = -1;  // plain_masked
constexpr std::uint32_t next_warp = 0x51ED270BU;  // what shifts the patterns of a sample's warps against each other
constexpr int warps = 8;     // of a sample: what `auto` learns in one serves the next
constexpr int measured[] = {CONVERGE_MAJORITY, CONVERGE_ROUND_ROBIN, CONVERGE_ADVANCE, CONVERGE_ADVANCE_IN_ORDER, CONVERGE_PLAIN, CONVERGE_AUTO};
constexpr const char* names[] = {"plain", "majority", "round-robin", "advance", "advance-in-order", "auto"};

float sink = 0;

/// Processor time of this thread in nanoseconds: what other programs take from it is not counted.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Nanoseconds of all warps under one policy.
template <int kChains>
double sample(const Pattern& pattern, int path, int rest, std::int32_t iterations, int policy) {
  converge::Chooser chooser;
  double time = 0;
  for (int w = 0; w < warps; ++w) {
    Loop<kChains> loop(pattern, path, rest);
    for (auto& o : loop.offset) o += static_cast<std::uint32_t>(w) * next_warp;
    const double start = now();
    if (policy == by_hand) {
      plain_masked(loop, iterations);
    } else {
      converged(loop, iterations, policy, &chooser);
    }
    time += now() - start;
    sink += loop.checksum();
  }
  return time;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 == 1 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

/// 95 % interval of the median by the percentile bootstrap.
std::pair<double, double> interval(const std::vector<double>& v) {
  constexpr int resamples = 1000;
  std::mt19937 random(7);
  std::vector<double> medians, draw(v.size());
  for (int r = 0; r < resamples; ++r) {
    for (double& x : draw) x = v[random() % v.size()];
    medians.push_back(median(draw));
  }
  std::sort(medians.begin(), medians.end());
  return {medians[resamples / 40], medians[resamples - 1 - resamples / 40]};
}

Pattern coins(double p) {
  Pattern r;
  r.threshold = p >= 1 ? 0xffffffffU : static_cast<std::uint32_t>(std::lround(p * 4294967296.0));
  return r;
}
Pattern advanceable(double a) {
  Pattern r;
  r.coins = false;
  r.slope = static_cast<std::uint32_t>(std::lround(a * 2147483648.0));
  return r;
}

kernelcast::Policy policy_of(int policy) {
  switch (policy) {
    case CONVERGE_MAJORITY: return kernelcast::Policy::majority;
    case CONVERGE_ROUND_ROBIN: return kernelcast::Policy::round_robin;
    case CONVERGE_ADVANCE: return kernelcast::Policy::advance;
    case CONVERGE_ADVANCE_IN_ORDER: return kernelcast::Policy::advance_in_order;
    default: return kernelcast::Policy::plain;
  }
}

/// The pattern as the closed forms know it: evenly spread changes are no Markov chain, so its rates come from replay.
template <int kChains>
kernelcast::BranchPattern bits_of(const Pattern& pattern, std::int32_t iterations, int warp) {
  const D d;
  Loop<kChains> loop(pattern, 0, 0);
  for (auto& o : loop.offset) o += static_cast<std::uint32_t>(warp) * next_warp;
  kernelcast::BranchPattern out;
  out.lanes.resize(hn::Lanes(d));
  for (std::int32_t n = 0; n < iterations; ++n) {
    std::uint8_t bits[16] = {};
    hn::StoreMaskBits(d, loop.condition(d, hn::Set(DI(), n), hn::FirstN(d, hn::Lanes(d))), bits);
    for (std::size_t k = 0; k < hn::Lanes(d); ++k) out.lanes[k].push_back((bits[k / 8] >> (k % 8)) & 1U);
  }
  return out;
}

/// Costs of this machine in nanoseconds of one warp. A path without work still loads, blends and stores: that is
/// empty_pass, by which the loop on fair coins without work exceeds the one that only takes T.
struct Calibration {
  int plain = by_hand;      // what the others are held against
  double rest = 0;          // of an iteration outside the paths
  double empty_pass = 0;
  double choosing[6] = {};  // by policy, of a trip
};

struct Timed {
  Pattern pattern;
  int path, policy;
};

/// Nanoseconds of an iteration for each, medians of samples taken in turn: under the load that the measurements meet.
template <int kChains>
std::vector<double> typical(const std::vector<Timed>& all, int rest, std::int32_t iterations, int samples) {
  std::vector<std::vector<double>> times(all.size());
  for (int n = 0; n < samples; ++n)
    for (std::size_t k = 0; k < all.size(); ++k)
      times[k].push_back(sample<kChains>(all[k].pattern, all[k].path, rest, iterations, all[k].policy));
  std::vector<double> result;
  for (const auto& t : times) result.push_back(median(t) / warps / iterations);
  return result;
}

/// The plain loop that is faster where both paths run.
template <int kChains>
int faster_plain(int rest) {
  const Pattern fair = coins(0.5);
  const auto t = typical<kChains>({{fair, 2, by_hand}, {fair, 2, CONVERGE_PLAIN}, {fair, 16, by_hand}, {fair, 16, CONVERGE_PLAIN},
                                   {fair, 64, by_hand}, {fair, 64, CONVERGE_PLAIN}},
                                  rest, 1024, 25);
  return t[0] * t[2] * t[4] <= t[1] * t[3] * t[5] ? by_hand : CONVERGE_PLAIN;
}

template <int kChains>
Calibration calibrate(int rest) {
  constexpr std::int32_t n = 4096;
  const Pattern fair = coins(0.5);
  Calibration c;
  c.plain = faster_plain<kChains>(rest);
  std::vector<Timed> all{{coins(1), 0, c.plain}, {fair, 0, c.plain}};
  for (const int policy : {CONVERGE_MAJORITY, CONVERGE_ROUND_ROBIN, CONVERGE_ADVANCE, CONVERGE_ADVANCE_IN_ORDER})
    all.push_back({fair, 0, policy});
  const auto times = typical<kChains>(all, rest, n, 61);
  c.empty_pass = std::max(0.0, times[1] - times[0]);
  c.rest = times[0] - c.empty_pass;
  const auto bits = bits_of<kChains>(fair, n, 0);
  for (std::size_t k = 2; k < all.size(); ++k) {
    const int policy = all[k].policy;
    kernelcast::PolicyOptions options;
    options.flush_period = CONVERGE_FLUSH;
    const kernelcast::StepCounts counts = kernelcast::replay(bits, policy_of(policy), options);
    const bool advances = policy == CONVERGE_ADVANCE || policy == CONVERGE_ADVANCE_IN_ORDER;
    const double other = static_cast<double>(counts.passes()) * c.empty_pass +
                         static_cast<double>(advances ? counts.passes() : counts.trips) * c.rest;
    c.choosing[policy] = (times[k] * n - other) / static_cast<double>(counts.trips);
  }
  return c;
}

struct Case {
  const char* kind;
  double p, a;
};

template <int kChains>
void run_case(const Case& which, int path, int rest, const Calibration& c, int runs, std::int32_t iterations) {
  const bool is_coins = std::strcmp(which.kind, "coins") == 0;
  const Pattern pattern = is_coins ? coins(which.p) : advanceable(which.a);
  std::vector<double> ratios[6];
  for (int run = 0; run <= runs; ++run) {
    for (const int policy : measured) {
      const double plain = sample<kChains>(pattern, path, rest, iterations, c.plain);
      const double time = sample<kChains>(pattern, path, rest, iterations, policy);
      if (run > 0) ratios[policy].push_back(plain / time);  // the first warms up
    }
  }
  // Loops that take only T: a path's cost.
  const double pass = typical<kChains>({{coins(1), path, c.plain}}, rest, std::max(256, iterations / 4), 15)[0] - c.rest;
  std::vector<kernelcast::BranchPattern> bits;
  for (int w = 0; w < warps; ++w) bits.push_back(bits_of<kChains>(pattern, iterations, w));
  kernelcast::PatternStatistics statistics{which.p, 2 * which.p * (1 - which.p), static_cast<int>(hn::Lanes(D())),
                                           static_cast<double>(iterations)};
  for (const int policy : measured) {
    kernelcast::LoopCosts costs{pass, pass, c.rest, c.choosing[policy]};
    kernelcast::PolicyOptions options;
    options.flush_period = CONVERGE_FLUSH;
    double predicted = 0;
    if (policy != CONVERGE_AUTO && is_coins) {
      predicted = kernelcast::expected_speedup(policy_of(policy), statistics, costs, options);
    } else if (policy != CONVERGE_AUTO) {
      const auto rates = [&](kernelcast::Policy q) {
        kernelcast::StepRates sum;
        for (const kernelcast::BranchPattern& b : bits) {
          const kernelcast::StepCounts k = kernelcast::replay(b, q, options);
          sum.taken += static_cast<double>(k.taken);
          sum.other += static_cast<double>(k.other);
          sum.trips += static_cast<double>(k.trips);
        }
        return sum;
      };
      predicted = kernelcast::time_of(kernelcast::Policy::plain, rates(kernelcast::Policy::plain), costs) /
                  kernelcast::time_of(policy_of(policy), rates(policy_of(policy)), costs);
    }
    const auto [low, high] = interval(ratios[policy]);
    std::printf("%s,%d,%g,%g,%g,%s,%d,%zu,%.4f,%.4f,%.4f,", which.kind, kChains, which.p, which.a, 2.0 * path / rest, names[policy],
                static_cast<int>(iterations), ratios[policy].size(), median(ratios[policy]), low, high);
    if (predicted > 0) std::printf("%.4f", predicted);
    std::printf("\n");
  }
  std::fflush(stdout);
}

template <int kChains>
void run_all(int runs, std::int32_t iterations, const std::vector<Case>& cases) {
  constexpr int rest = 8;
  const Calibration c = calibrate<kChains>(rest);
  std::fprintf(stderr, "%d chains, %zu lanes, plain %s: rest %.1f ns, empty pass %.1f ns; choosing: majority %.1f, round robin %.1f, advance %.1f, in order %.1f\n",
               kChains, hn::Lanes(D()), c.plain == by_hand ? "by hand" : "of the library", c.rest, c.empty_pass, c.choosing[1], c.choosing[2], c.choosing[3], c.choosing[4]);
  for (const Case& which : cases) {
    for (const int path : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
      std::fprintf(stderr, "%s p %g a %g ratio %g\n", which.kind, which.p, which.a, 2.0 * path / rest);
      run_case<kChains>(which, path, rest, c, runs, iterations);
    }
  }
}

int number(const char* text, int least_value) {
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  if (*end != '\0' || n < least_value || n > 1000000) {
    std::fprintf(stderr, "sweep: %s: expected a number from %d to 1000000\n", text, least_value);
    std::exit(2);
  }
  return static_cast<int>(n);
}

}  // namespace
}  // namespace sweep

int main(int argc, char** argv) {
  int runs = 21, iterations = 4096;
  bool quick = false;
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--runs") == 0 && k + 1 < argc) {
      runs = sweep::number(argv[++k], 1);
    } else if (std::strcmp(argv[k], "--iterations") == 0 && k + 1 < argc) {
      iterations = sweep::number(argv[++k], 256);
    } else if (std::strcmp(argv[k], "--quick") == 0) {
      quick = true;
    } else {
      std::fprintf(stderr, "usage: sweep [--runs N] [--iterations N] [--quick] > sweep.csv\n");
      return 2;
    }
  }
  std::printf("kind,chains,p,a,rho,policy,iterations,runs,speedup,low,high,predicted\n");
  const std::vector<sweep::Case> fair{{"coins", 0.5, 0}};
  std::vector<sweep::Case> all{fair};
  if (!quick) {
    all.push_back({"coins", 0.25, 0});
    all.push_back({"coins", 0.125, 0});
  }
  for (const double a : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
    if (!quick || a == 0.5) all.push_back({"advance", 0.5, a});
  }
  sweep::run_all<8>(runs, iterations, all);
  sweep::run_all<1>(runs, iterations, fair);
  return sweep::sink == 12345.0f ? 1 : 0;  // keeps the work
}
