// A progression 0, s, 2s, ... modulo M repeats after p = M / gcd(s, M) terms, so n terms are floor(n / p) whole periods
// and the first n mod p terms of one more. Independent progressions convolve over the cyclic group of residues. Counts
// are doubles: whole numbers, exact below 2^53. At most M^2 steps a progression, M the segment size; usually one.
#include "profile/residues.h"

#include <numeric>

namespace kernelcast {

void ResidueCounts::start(std::int64_t base, std::int64_t modulus) {
  modulus_ = modulus;
  std::int64_t r = base % modulus;
  if (r < 0) r += modulus;
  entries_.assign(1, {static_cast<int>(r), 1.0});
}

void ResidueCounts::add_progression(std::int64_t step, std::int64_t count) {
  std::int64_t s = step % modulus_;
  if (s < 0) s += modulus_;
  if (s == 0) {
    for (Entry& e : entries_) e.count *= static_cast<double>(count);
    return;
  }
  const std::int64_t period = modulus_ / std::gcd(s, modulus_);
  const auto whole = static_cast<double>(count / period);
  const std::int64_t rest = count % period;
  sums_.assign(static_cast<std::size_t>(modulus_), 0.0);
  for (const Entry& e : entries_) {
    std::int64_t r = e.residue;
    const std::int64_t terms = whole > 0 ? period : rest;
    for (std::int64_t i = 0; i < terms; ++i) {
      sums_[r] += e.count * (whole + (i < rest ? 1.0 : 0.0));
      r += s;
      if (r >= modulus_) r -= modulus_;
    }
  }
  entries_.clear();
  for (std::int64_t r = 0; r < modulus_; ++r)
    if (sums_[r] != 0) entries_.push_back({static_cast<int>(r), sums_[r]});
}

}  // namespace kernelcast
