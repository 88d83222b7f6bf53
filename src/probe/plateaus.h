// Cache levels from a curve of latency over the size of what is walked through.
#pragma once

#include <vector>

namespace kernelcast::probe {

struct CurvePoint {
  double bytes = 0, latency = 0;
};
struct Plateau {
  double last_bytes = 0;  // the largest size that still belongs to it: the size of the cache, to the step of the curve
  double latency = 0;     // median over the plateau
};

/// Sizes in rising order, at least two points of each plateau. A point belongs to the plateau while it is at most 30 %
/// above its median; a new plateau begins where two neighbours differ by at most 12 %. The last plateau is what lies
/// behind all caches as far as the curve goes.
std::vector<Plateau> plateaus(const std::vector<CurvePoint>& curve);

}  // namespace kernelcast::probe
