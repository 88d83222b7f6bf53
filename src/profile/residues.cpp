// A progression 0, s, 2s, ... modulo M repeats after p = M / gcd(s, M) terms, so n terms are floor(n / p) whole periods
// and the first n mod p terms of one more. Independent progressions convolve over the cyclic group of residues. All
// residues differ from the base by multiples of g = gcd(M, all steps), so the group has M / g elements: usually one or
// two, at most M. Counts are doubles: whole numbers, exact below 2^53.
#include "profile/residues.h"

#include <numeric>

namespace kernelcast {

std::span<const ResidueCounts::Entry> ResidueCounts::count(std::int64_t base, std::int64_t modulus,
                                                           std::span<const Progression> progressions) {
  std::int64_t unit = modulus;
  double all = 1;
  for (const Progression& p : progressions) {
    const std::int64_t s = residue_of(p.step, modulus);
    if (s != 0 && p.count > 1) unit = (modulus & (modulus - 1)) == 0 ? ((s | unit) & -(s | unit)) : std::gcd(unit, s);
    all *= static_cast<double>(p.count);
  }
  const std::int64_t start = residue_of(base, modulus);
  entries_.clear();
  if (unit == modulus) {
    entries_.push_back({start, all});
    return entries_;
  }
  const std::int64_t size = modulus / unit;
  now_.assign(static_cast<std::size_t>(size), 0.0);
  now_[0] = 1;
  double factor = 1;
  for (const Progression& p : progressions) {
    const std::int64_t s = residue_of(p.step, modulus) / unit;
    if (s == 0 || p.count == 1) {
      factor *= static_cast<double>(p.count);
      continue;
    }
    const std::int64_t period = size / std::gcd(s, size);
    const std::int64_t rounds = p.count / period, rest = p.count % period, terms = rounds > 0 ? period : rest;
    const auto whole = static_cast<double>(rounds);
    next_.assign(static_cast<std::size_t>(size), 0.0);
    for (std::int64_t i = 0, shift = 0; i < terms; ++i) {
      const double weight = whole + (i < rest ? 1.0 : 0.0);
      for (std::int64_t from = 0, to = shift; from < size; ++from, to = to + 1 == size ? 0 : to + 1)
        next_[to] += now_[from] * weight;
      shift += s;
      if (shift >= size) shift -= size;
    }
    now_.swap(next_);
  }
  for (std::int64_t i = 0; i < size; ++i)
    if (now_[i] != 0) entries_.push_back({residue_of(start + i * unit, modulus), now_[i] * factor});
  return entries_;
}

}  // namespace kernelcast
