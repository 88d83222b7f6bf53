// Collatz sequences: an odd number takes one path, an even number the other. Lanes have different lengths and disagree in
// nearly every step. Prints the longest sequence below a limit under each policy; all must agree.
#include <cstdio>
#include <cstdlib>

#include "converge/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace collatz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<std::int32_t>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

struct Loop {
  V value, length;
  M condition(D d, V, M) { return hn::TestBit(value, hn::Set(d, 1)); }
  void taken(D d, V, M lanes) {
    const V next = hn::Add(hn::Add(hn::Add(value, value), value), hn::Set(d, 1));
    value = hn::IfThenElse(lanes, next, value);
  }
  void other(D, V, M lanes) { value = hn::IfThenElse(lanes, hn::ShiftRight<1>(value), value); }
  void tail(D d, V, M lanes) { length = hn::IfThenElse(lanes, hn::Add(length, hn::Set(d, 1)), length); }
  M more(D d, V, M) { return hn::Gt(value, hn::Set(d, 1)); }
};

int longest(int below, int policy) {
  const D d;
  V best = hn::Zero(d);
  for (int first = 1; first < below; first += static_cast<int>(hn::Lanes(d))) {
    Loop loop{hn::Iota(d, first), hn::Zero(d)};
    converge::Options options;
    options.policy = policy;
    converge::HWY_NAMESPACE::run(d, loop, hn::Set(d, 1000), options);
    best = hn::Max(best, loop.length);
  }
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

}  // namespace HWY_NAMESPACE
}  // namespace collatz
HWY_AFTER_NAMESPACE();

int main() {
  constexpr int below = 10000, known = 261;  // steps of 6171, the longest below 10,000
  int wrong = 0;
  for (const int policy : {CONVERGE_PLAIN, CONVERGE_MAJORITY, CONVERGE_ROUND_ROBIN, CONVERGE_AUTO}) {
    const int steps = collatz::HWY_NAMESPACE::longest(below, policy);
    std::printf("policy %d: %d steps\n", policy, steps);
    wrong += steps != known ? 1 : 0;
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
