// What both GPU programs of the sweep share: cases, results lane by lane, and the CSV that report.py takes. A back end times
// one launch and gives what the lanes computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define SWEEP_FMA std::fma
#include "gpu_loop.h"

namespace gpu_sweep {

inline constexpr const char* policies[] = {"plain", "majority", "round_robin", "advance", "advance_in_order", "auto", "hand"};
inline constexpr int policy_count = 7, hand = 6;

struct Launch {
  int policy = 0, iterations = 0, path = 0, rest = 0;
  unsigned threshold = 0, slope = 0;
  int groups = 0, group_size = 0;
};

struct Outcome {
  double seconds = 0;
  std::vector<float> out;
  std::string error;
};
using Run = std::function<Outcome(const Launch&)>;

struct Options {
  bool quick = false;
  int runs = 11, iterations = 4096, groups = 1024, group_size = 128;
};

/// False: the arguments are wrong. Others than the options are left in `rest`.
inline bool read_options(int argc, char** argv, Options& o, std::vector<std::string>& rest) {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    int* number = word == "--runs" ? &o.runs : word == "--iterations" ? &o.iterations : word == "--groups" ? &o.groups : nullptr;
    if (word == "--quick") {
      o.quick = true;
      o.runs = 1;
      o.iterations = 96;
      o.groups = 2;
    } else if (number != nullptr) {
      if (k + 1 >= argc || (*number = std::atoi(argv[++k])) < 1) return false;
    } else if (word.rfind("--", 0) == 0) {
      return false;
    } else {
      rest.push_back(word);
    }
  }
  return true;
}

/// One lane by itself.
inline float expected(const Launch& l, unsigned id) {
  const unsigned lane = sweep_offset(id);
  float taken[SWEEP_CHAINS], other[SWEEP_CHAINS], tail[SWEEP_CHAINS], sum = 0;
  for (int k = 0; k < SWEEP_CHAINS; ++k) taken[k] = other[k] = tail[k] = SWEEP_BEGIN(k);
  for (int i = 0; i < l.iterations; ++i) {
    if (sweep_condition(lane, static_cast<unsigned>(i), l.threshold, l.slope) != 0) {
      SWEEP_TAKEN(l.path, taken);
    } else {
      SWEEP_OTHER(l.path, other);
    }
    SWEEP_REST(l.rest, tail);
  }
  for (int k = 0; k < SWEEP_CHAINS; ++k) sum += taken[k] + other[k] + tail[k];
  return sum;
}

/// Lanes that differ from the loop lane by lane: each is a sum of the same numbers in the same order, so bits are compared.
inline int wrong_lanes(const Launch& l, const std::vector<float>& out) {
  int wrong = 0;
  const unsigned lanes = static_cast<unsigned>(l.groups * l.group_size);
  if (out.size() != lanes) return static_cast<int>(lanes);
  const unsigned checked = std::min(lanes, 512U);
  for (unsigned k = 0; k < checked; ++k) {
    const unsigned id = k < checked / 2 ? k : lanes - checked + k;
    const float right = expected(l, id);
    wrong += std::memcmp(&right, &out[id], sizeof right) != 0 ? 1 : 0;
  }
  return wrong;
}

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 == 1 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

struct Case {
  const char* kind;
  double p, a;
};

/// Nine patterns, nine ratios, seven loops. Exit status: 1 where a lane is wrong or a launch failed.
inline int sweep(const std::string& device, const Options& o, const Run& run) {
  std::vector<Case> cases{{"coins", 0.5, 0}, {"advance", 0.5, 0.5}};
  std::vector<double> ratios{1, 8};
  if (!o.quick) {
    cases = {{"coins", 0.5, 0}, {"coins", 0.25, 0}, {"coins", 0.125, 0}};
    for (const double a : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) cases.push_back({"advance", 0.5, a});
    ratios = {0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};
  }
  constexpr int rest = 8;
  int bad = 0, checked = 0, auto_cells = 0, auto_near = 0;
  double best_majority = 0, best_round_robin = 0, best_advance = 0;
  std::printf("kind,chains,p,a,rho,policy,iterations,runs,speedup,low,high,predicted\n");
  for (const Case& c : cases)
    for (const double rho : ratios) {
      Launch l;
      l.iterations = o.iterations;
      l.rest = rest;
      l.path = static_cast<int>(std::lround(rho * rest / 2));
      const bool coins = std::strcmp(c.kind, "coins") == 0;
      l.threshold = static_cast<unsigned>(std::llround(c.p * 4294967296.0));
      // No change of path at all would be a pattern without divergence: an iteration in 2^20 changes.
      l.slope = coins ? 0 : static_cast<unsigned>(std::max(2048.0, std::round(c.a * 2147483648.0)));
      l.groups = o.groups;
      l.group_size = o.group_size;
      std::vector<double> times[policy_count];
      for (int n = 0; n <= o.runs; ++n)
        for (int policy = 0; policy < policy_count; ++policy) {
          l.policy = policy;
          const Outcome outcome = run(l);
          if (!outcome.error.empty()) {
            std::fprintf(stderr, "%s, %s: %s\n", device.c_str(), policies[policy], outcome.error.c_str());
            return 1;
          }
          if (n > 0) times[policy].push_back(outcome.seconds);
          if (n > 0) continue;
          ++checked;
          if (const int wrong = wrong_lanes(l, outcome.out); wrong > 0) {
            ++bad;
            std::fprintf(stderr, "%s, p = %g, a = %g, ratio %g, %s: %d lanes are wrong\n", c.kind, c.p, c.a, rho, policies[policy], wrong);
          }
        }
      double best = 0, of_auto = 0;
      const double plain = std::min(median(times[0]), median(times[hand]));
      for (int policy = 0; policy < hand; ++policy) {
        std::vector<double> each;
        for (const double t : times[policy]) each.push_back(plain / t);
        std::sort(each.begin(), each.end());
        std::string name = policies[policy];
        std::replace(name.begin(), name.end(), '_', '-');
        const double speedup = median(each);
        std::printf("%s,%d,%g,%g,%g,%s,%d,%zu,%.4f,%.4f,%.4f,\n", c.kind, SWEEP_CHAINS, c.p, c.a, rho, name.c_str(), l.iterations,
                    each.size(), speedup, each.front(), each.back());
        if (policy == 5) of_auto = speedup;
        if (policy != 5) best = std::max(best, speedup);
        if (coins && c.p == 0.5 && policy == 1) best_majority = std::max(best_majority, speedup);
        if (coins && c.p == 0.5 && policy == 2) best_round_robin = std::max(best_round_robin, speedup);
        if (!coins && c.a == 0.5 && policy == 3) best_advance = std::max(best_advance, speedup);
      }
      ++auto_cells;
      auto_near += of_auto >= 0.97 * std::max(1.0, best) ? 1 : 0;
      std::fflush(stdout);
    }
  std::fprintf(stderr,
               "%s: %d of %d loops as lane by lane; best on fair coins: majority %.3f (GT 550M: 1.152), round robin %.3f (1.256), at most "
               "1.333; advance at a = 0.5: %.3f, at most 2; auto within 3 %% of the best in %d of %d cells\n",
               device.c_str(), checked - bad, checked, best_majority, best_round_robin, best_advance, auto_near, auto_cells);
  return bad > 0 ? 1 : 0;
}

}  // namespace gpu_sweep
