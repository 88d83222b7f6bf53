#include "engines/execute/cases/cases.h"

namespace kernelcast::agreement {
namespace {

std::uint64_t state = 1;

}  // namespace

// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
std::uint64_t random_bits() {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

void restart_random() { state = 1; }

}  // namespace kernelcast::agreement
