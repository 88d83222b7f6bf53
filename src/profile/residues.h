// How often a sum of independent arithmetic progressions falls into each residue class.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace kernelcast {

/// step * n for 0 <= n < count.
struct Progression {
  std::int64_t step, count;
};

/// Distribution of base + the sum of one term of each progression, modulo `modulus`, without enumerating.
class ResidueCounts {
 public:
  struct Entry {
    std::int64_t residue;
    double count;
  };
  /// The residues that occur. `modulus` is positive.
  std::span<const Entry> count(std::int64_t base, std::int64_t modulus, std::span<const Progression> progressions);

 private:
  std::vector<Entry> entries_;
  std::vector<double> now_, next_;
};

/// The smallest non-negative residue.
inline std::int64_t residue_of(std::int64_t a, std::int64_t modulus) {
  if ((modulus & (modulus - 1)) == 0) return a & (modulus - 1);
  const std::int64_t r = a % modulus;
  return r < 0 ? r + modulus : r;
}

/// The greatest common divisor of a modulus and a step, 0 < step < modulus: the spacing of the residues it reaches.
inline std::int64_t spacing_of(std::int64_t step, std::int64_t modulus) {
  return (modulus & (modulus - 1)) == 0 ? step & -step : std::gcd(step, modulus);
}

}  // namespace kernelcast
