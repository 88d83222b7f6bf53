// Between two levels the curve climbs over several sizes: a random walk through S bytes hits a cache of C bytes in a
// share C / S of its steps. So a level's size is where the climb begins, and the next level's latency where it has
// ended.
#include "probe/plateaus.h"

#include <algorithm>
#include <cmath>

namespace kernelcast::probe {
namespace {

constexpr double leaves = 1.30, flat = 1.12;

double upper_median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

std::vector<Plateau> plateaus(const std::vector<CurvePoint>& curve) {
  std::vector<Plateau> out;
  std::size_t i = 0;
  while (i < curve.size()) {
    // The end of a climb; the last point is a plateau of its own at need.
    while (i + 1 < curve.size() && curve[i + 1].latency > flat * curve[i].latency) ++i;
    std::vector<double> members{curve[i].latency};
    Plateau p{curve[i].bytes, curve[i].latency};
    for (++i; i < curve.size() && curve[i].latency <= leaves * p.latency; ++i) {
      members.push_back(curve[i].latency);
      p = {curve[i].bytes, upper_median(members)};
    }
    // Noise on a plateau is not a level.
    if (!out.empty() && p.latency <= leaves * out.back().latency) {
      out.back().last_bytes = p.last_bytes;
    } else {
      out.push_back(p);
    }
  }
  return out;
}

}  // namespace kernelcast::probe
