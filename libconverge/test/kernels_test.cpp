// Real kernels on every vector width that this machine has, under every policy that is legal for them: the bits of the
// plain loop, lane by lane. Within kernelcast also: as many passes of each path as its replay of the lanes' branches
// says, which is what gains are predicted from. Says what failed and returns 1.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_test.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "converge/cpu.h"
#include "vectors.h"
#ifdef CONVERGE_REPLAY
#include "kernelcast/converge.h"
#endif

#include <cstdio>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The library takes a loop with `more` for one whose end is not known ahead.
template <class D, class Loop>
struct Counted {
  Loop& loop;
  auto condition(D d, typename Loop::I i, typename Loop::M in) { return loop.condition(d, i, in); }
  void taken(D d, typename Loop::I i, typename Loop::M in) { loop.taken(d, i, in); }
  void other(D d, typename Loop::I i, typename Loop::M in) { loop.other(d, i, in); }
};

template <class Lane, class Loop, class D>
int check(const char* name, D d) {
  int wrong = 0;
  for (int first = 0; first < 64; first += static_cast<int>(hn::Lanes(d))) {
    std::vector<std::uint32_t> results;
    std::vector<std::vector<std::uint8_t>> pattern;
    for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
      Lane lane(first + static_cast<int>(k));
      pattern.emplace_back();
      for (std::int32_t i = 0; i < Lane::count && lane.more(i); ++i) {
        pattern.back().push_back(lane.condition(i) ? 1 : 0);
        pattern.back().back() == 1 ? lane.taken(i) : lane.other(i);
      }
      results.push_back(lane.result());
    }
    const auto counts = hn::Set(hn::RebindToSigned<D>(), Lane::count);
    for (int policy = CONVERGE_PLAIN; policy <= CONVERGE_AUTO; ++policy) {
      if (policy == CONVERGE_ADVANCE || (policy == CONVERGE_ADVANCE_IN_ORDER && !Lane::known_ahead)) continue;
      Loop loop(d, first);
      converge::Options options;
      options.policy = policy;
      options.allow = CONVERGE_ALLOW_POSTPONE | (Lane::known_ahead ? CONVERGE_ALLOW_ADVANCE_IN_ORDER : 0);
      if constexpr (Lane::known_ahead) {
        Counted<D, Loop> counted{loop};
        converge::HWY_NAMESPACE::run(d, counted, counts, options);
      } else {
        converge::HWY_NAMESPACE::run(d, loop, counts, options);
      }
      int differ = 0;
      for (std::size_t k = 0; k < results.size(); ++k) differ += loop.lane[k].result() != results[k] ? 1 : 0;
      if (differ > 0) std::fprintf(stderr, "%s, policy %d: %d lanes differ\n", name, policy, differ);
      wrong += differ;
#ifdef CONVERGE_REPLAY
      if (policy == CONVERGE_AUTO) continue;
      kernelcast::PolicyOptions replayed;
      replayed.flush_period = options.flush;
      const auto steps = kernelcast::replay({pattern}, static_cast<kernelcast::Policy>(policy), replayed);
      if (steps.taken == loop.taken_passes && steps.other == loop.other_passes) continue;
      std::fprintf(stderr, "%s, policy %d: %ld passes of T and %ld of F, replay has %lld and %lld\n", name, policy,
                   loop.taken_passes, loop.other_passes, static_cast<long long>(steps.taken),
                   static_cast<long long>(steps.other));
      ++wrong;
#endif
    }
  }
  return wrong;
}

template <class D>
int check_all(D d) {
  return check<lanes::Escape, Escape<D>>("escape", d) + check<lanes::Walk, Walk<D>>("walk", d) +
         check<lanes::March, March<D>>("march", d) + check<lanes::Queens, Queens<D>>("queens", d) +
         check<lanes::Align, Align<D>>("align", d);
}

int run_all() {
  const int wrong = check_all(hn::ScalableTag<float>()) + check_all(hn::CappedTag<float, 2>());
  std::printf("%s: %s\n", hwy::TargetName(HWY_TARGET), wrong == 0 ? "equal" : "DIFFERENT");
  return wrong;
}

}  // namespace HWY_NAMESPACE
}  // namespace kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels {
HWY_EXPORT(run_all);
}  // namespace kernels

int main() {
  int wrong = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    wrong += HWY_DYNAMIC_DISPATCH(kernels::run_all)();
  }
  hwy::SetSupportedTargetsForTest(0);
  return wrong == 0 ? 0 : 1;
}
#endif
