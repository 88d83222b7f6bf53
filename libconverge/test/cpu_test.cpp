// Random loops, patterns and widths on every vector width that this machine has: the results must be those of the plain loop
// run lane by lane. The body's state is order-dependent (a hash chained over a lane's iterations) where the policy keeps a
// lane's order, and a sum where it does not. Says what failed and returns 1.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu_test.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "converge/cpu.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#ifndef CPU_TEST_ONCE
#define CPU_TEST_ONCE
namespace test {

/// One loop of the test, for one lane.
struct Body {
  std::uint32_t taken_factor, other_factor, tail_factor;
  bool tail, ordered, ends_by_data;
  std::uint32_t threshold, repeat;  // T where hash(lane, i / repeat) is below
  std::uint32_t stop;               // a lane ends where its state falls below
};

inline std::uint32_t hashed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

inline bool takes(const Body& b, std::uint32_t lane, std::uint32_t i) { return hashed(lane * 7919U + i / b.repeat) < b.threshold; }
inline std::uint32_t with_taken(const Body& b, std::uint32_t s, std::uint32_t i) {
  return b.ordered ? (s ^ (i + 1)) * b.taken_factor + 1 : s + hashed(i * b.taken_factor);
}
inline std::uint32_t with_other(const Body& b, std::uint32_t s, std::uint32_t i) {
  return b.ordered ? (s + i) * b.other_factor + 3 : s + hashed(i ^ b.other_factor);
}
inline std::uint32_t with_tail(const Body& b, std::uint32_t s, std::uint32_t i) {
  return b.ordered ? (s ^ (s >> 7)) * b.tail_factor + i : s + i * b.tail_factor;
}
inline bool goes_on(const Body& b, std::uint32_t s) { return !b.ends_by_data || hashed(s) >= b.stop; }

/// What a lane's state is after the loop.
inline std::uint32_t reference(const Body& b, std::uint32_t lane, std::int32_t count) {
  std::uint32_t s = lane;
  for (std::int32_t i = 0; i < count && goes_on(b, s); ++i) {
    const auto n = static_cast<std::uint32_t>(i);
    s = takes(b, lane, n) ? with_taken(b, s, n) : with_other(b, s, n);
    if (b.tail) s = with_tail(b, s, n);
  }
  return s;
}

}  // namespace test
#endif

HWY_BEFORE_NAMESPACE();
namespace test {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lane by lane through memory: what counts here is which lanes run what, when.
template <class D>
struct PlainLoop {
  const Body& body;
  std::uint32_t state[64] = {};

  template <class F>
  HWY_INLINE void each(D d, converge::HWY_NAMESPACE::Iteration<D> i, hn::Mask<D> lanes, F f) {
    const hn::RebindToSigned<D> di;
    HWY_ALIGN hn::TFromD<hn::RebindToSigned<D>> at[64];
    hn::Store(i, di, at);
    std::uint8_t bits[16] = {};
    hn::StoreMaskBits(d, lanes, bits);
    for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
      if ((bits[k / 8] >> (k % 8) & 1) != 0) f(static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(at[k]));
    }
  }
  template <class F>
  HWY_INLINE hn::Mask<D> mask_of(D d, converge::HWY_NAMESPACE::Iteration<D> i, hn::Mask<D> lanes, F f) {
    std::uint8_t bits[16] = {};
    each(d, i, lanes, [&](std::uint32_t k, std::uint32_t n) { bits[k / 8] |= static_cast<std::uint8_t>(f(k, n) << (k % 8)); });
    return hn::LoadMaskBits(d, bits);
  }
  hn::Mask<D> condition(D d, converge::HWY_NAMESPACE::Iteration<D> i, hn::Mask<D> lanes) {
    return mask_of(d, i, lanes, [&](std::uint32_t k, std::uint32_t n) { return takes(body, k, n); });
  }
  void taken(D d, converge::HWY_NAMESPACE::Iteration<D> i, hn::Mask<D> lanes) {
    each(d, i, lanes, [&](std::uint32_t k, std::uint32_t n) { state[k] = with_taken(body, state[k], n); });
  }
  void other(D d, converge::HWY_NAMESPACE::Iteration<D> i, hn::Mask<D> lanes) {
    each(d, i, lanes, [&](std::uint32_t k, std::uint32_t n) { state[k] = with_other(body, state[k], n); });
  }
  void tail(D d, converge::HWY_NAMESPACE::Iteration<D> i, hn::Mask<D> lanes) {
    if (!body.tail) return;
    each(d, i, lanes, [&](std::uint32_t k, std::uint32_t n) { state[k] = with_tail(body, state[k], n); });
  }
};

/// Also ends by data.
template <class D>
struct EndingLoop : PlainLoop<D> {
  hn::Mask<D> more(D d, converge::HWY_NAMESPACE::Iteration<D> i, hn::Mask<D> lanes) {
    return this->mask_of(d, i, lanes, [&](std::uint32_t k, std::uint32_t) { return goes_on(this->body, this->state[k]); });
  }
};

template <class D, class Loop>
int check(D d, const Body& body, std::mt19937& random, int policy) {
  const hn::RebindToSigned<D> di;
  using Count = hn::TFromD<hn::RebindToSigned<D>>;
  HWY_ALIGN Count counts[64] = {};
  const bool same = random() % 2 == 0;
  const auto most = static_cast<Count>(random() % (policy == CONVERGE_AUTO ? 2000 : 300));
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) counts[k] = same ? most : static_cast<Count>(random() % 300);
  converge::Options options;
  options.policy = policy;
  options.flush = random() % 2 == 0 ? 0 : static_cast<int>(random() % 9);
  options.allow = CONVERGE_ALLOW_POSTPONE | CONVERGE_ALLOW_ADVANCE_IN_ORDER | (body.ordered ? 0 : CONVERGE_ALLOW_ADVANCE);
  // What auto has learnt in one run it uses in the next.
  converge::Chooser chooser;
  const int runs = policy == CONVERGE_AUTO ? 12 : 1;
  int wrong = 0;
  for (int run = 0; run < runs; ++run) {
    Loop loop{{body}};
    for (std::uint32_t k = 0; k < 64; ++k) loop.state[k] = k;
    converge::HWY_NAMESPACE::run(d, loop, hn::Load(di, counts), options, &chooser);
    for (std::uint32_t k = 0; k < hn::Lanes(d); ++k)
      wrong += loop.state[k] != reference(body, k, static_cast<std::int32_t>(counts[k])) ? 1 : 0;
  }
  if (wrong > 0) {
    std::fprintf(stderr, "%s, %zu lanes, policy %d: %d lanes differ (tail %d, ordered %d, ends by data %d)\n",
                 hwy::TargetName(HWY_TARGET), hn::Lanes(d), policy, wrong, body.tail, body.ordered, body.ends_by_data);
  }
  return wrong;
}

template <class D>
int check_all(D d, std::mt19937& random) {
  int wrong = 0;
  for (int n = 0; n < 200; ++n) {
    Body b{};
    b.taken_factor = static_cast<std::uint32_t>(random()) | 1U;
    b.other_factor = static_cast<std::uint32_t>(random()) | 1U;
    b.tail_factor = static_cast<std::uint32_t>(random()) | 1U;
    b.tail = random() % 2 == 0;
    b.ends_by_data = random() % 3 == 0;
    const std::uint32_t thresholds[] = {0, 1U << 28, 1U << 30, 1U << 31, 3U << 30, 0xffffffffU};
    b.threshold = thresholds[random() % 6];
    b.repeat = 1 + static_cast<std::uint32_t>(random() % 4);
    b.stop = 1U << 26;
    for (int policy = CONVERGE_PLAIN; policy <= CONVERGE_AUTO; ++policy) {
      b.ordered = policy != CONVERGE_ADVANCE && random() % 4 != 0;
      // With a tail the two paths of one step each run it, so an ordered tail still sees its lane's order.
      wrong += b.ends_by_data ? check<D, EndingLoop<D>>(d, b, random, policy) : check<D, PlainLoop<D>>(d, b, random, policy);
    }
  }
  return wrong;
}

int run_all() {
  std::mt19937 random(12345);
  int wrong = check_all(hn::ScalableTag<float>(), random);
  wrong += check_all(hn::CappedTag<float, 4>(), random);
  wrong += check_all(hn::CappedTag<std::int32_t, 2>(), random);
  wrong += check_all(hn::CappedTag<float, 1>(), random);
#if HWY_HAVE_FLOAT64
  wrong += check_all(hn::ScalableTag<double>(), random);
#endif
  std::printf("%s: %s\n", hwy::TargetName(HWY_TARGET), wrong == 0 ? "equal" : "DIFFERENT");
  return wrong;
}

}  // namespace HWY_NAMESPACE
}  // namespace test
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace test {
HWY_EXPORT(run_all);
}  // namespace test

int main() {
  int wrong = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    wrong += HWY_DYNAMIC_DISPATCH(test::run_all)();
  }
  hwy::SetSupportedTargetsForTest(0);
  return wrong == 0 ? 0 : 1;
}
#endif
