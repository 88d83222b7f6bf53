// The loops of lanes.h as the library takes them: a vector of lanes, with the arithmetic of their paths in vectors
// where it is in floating point. Each class counts how often its paths run.
#if defined(CONVERGE_TEST_VECTORS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVERGE_TEST_VECTORS_H_
#undef CONVERGE_TEST_VECTORS_H_
#else
#define CONVERGE_TEST_VECTORS_H_
#endif

#include <vector>

#include "converge/cpu.h"
#include "hwy/highway.h"
#include "lanes.h"

HWY_BEFORE_NAMESPACE();
namespace kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lanes that stand in memory, and how often each path ran.
template <class D, class Lane>
struct Warp {
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  using I = converge::HWY_NAMESPACE::Iteration<D>;
  std::vector<Lane> lane;
  long taken_passes = 0, other_passes = 0;

  Warp(D d, int first) {
    for (std::size_t k = 0; k < hn::Lanes(d); ++k) lane.emplace_back(first + static_cast<int>(k));
  }
  template <class F>
  M each(D d, I i, M lanes, F f) {
    HWY_ALIGN std::int32_t at[64];
    hn::Store(i, hn::RebindToSigned<D>(), at);
    std::uint8_t in[16] = {}, out[16] = {};
    hn::StoreMaskBits(d, lanes, in);
    for (std::size_t k = 0; k < lane.size(); ++k)
      if ((in[k / 8] >> (k % 8) & 1) != 0)
        out[k / 8] |= static_cast<std::uint8_t>((f(lane[k], at[k]) ? 1 : 0) << (k % 8));
    return hn::LoadMaskBits(d, out);
  }
  M more(D d, I i, M lanes) {
    return each(d, i, lanes, [](const Lane& l, std::int32_t n) { return l.more(n); });
  }
  M condition(D d, I i, M lanes) {
    return each(d, i, lanes, [](const Lane& l, std::int32_t n) { return l.condition(n); });
  }
  void taken(D d, I i, M lanes) {
    ++taken_passes;
    each(d, i, lanes, [](Lane& l, std::int32_t n) { return l.taken(n), true; });
  }
  void other(D d, I i, M lanes) {
    ++other_passes;
    each(d, i, lanes, [](Lane& l, std::int32_t n) { return l.other(n), true; });
  }
  /// One number of each lane as a vector, and back.
  V get(D d, float Lane::* member) const {
    HWY_ALIGN float all[64] = {};
    for (std::size_t k = 0; k < lane.size(); ++k) all[k] = lane[k].*member;
    return hn::Load(d, all);
  }
  void put(D d, float Lane::* member, V v, M lanes) {
    HWY_ALIGN float all[64];
    hn::Store(hn::IfThenElse(lanes, v, get(d, member)), d, all);
    for (std::size_t k = 0; k < lane.size(); ++k) lane[k].*member = all[k];
  }
};

/// Steps in vectors; a new pixel's place is a lane's own affair.
template <class D>
struct Escape : Warp<D, lanes::Escape> {
  using L = lanes::Escape;
  using B = Warp<D, L>;
  using B::B;
  void taken(D d, typename B::I i, typename B::M in) {
    const auto zr = this->get(d, &L::zr), zi = this->get(d, &L::zi);
    this->put(d, &L::zr, hn::Add(hn::Sub(hn::Mul(zr, zr), hn::Mul(zi, zi)), this->get(d, &L::cr)), in);
    this->put(d, &L::zi, hn::Add(hn::Mul(hn::Mul(hn::Set(d, 2.0f), zr), zi), this->get(d, &L::ci)), in);
    ++this->taken_passes;
    this->each(d, i, in, [](L& l, std::int32_t) { return ++l.n, true; });
  }
};

template <class D>
struct Walk : Warp<D, lanes::Walk> {
  using L = lanes::Walk;
  using B = Warp<D, L>;
  using B::B;
  typename B::M condition(D d, typename B::I i, typename B::M) const {
    const hn::RebindToUnsigned<D> du;
    HWY_ALIGN std::uint32_t seeds[64] = {};
    for (std::size_t k = 0; k < this->lane.size(); ++k) seeds[k] = this->lane[k].seed;
    auto h = hn::Mul(hn::Add(hn::Load(du, seeds), hn::BitCast(du, i)), hn::Set(du, 2654435761U));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(du, 2246822519U));
    h = hn::Xor(h, hn::ShiftRight<13>(h));
    return hn::RebindMask(d, hn::Eq(hn::And(h, hn::Set(du, 1U)), hn::Zero(du)));
  }
  void taken(D d, typename B::I, typename B::M in) {
    auto energy = this->get(d, &L::energy);
    const auto drift = hn::Mul(hn::Set(d, 0.001f), this->get(d, &L::x));
    for (int k = 0; k < L::steps; ++k) energy = hn::Add(hn::Mul(energy, hn::Set(d, 0.999f)), drift);
    this->put(d, &L::energy, energy, in);
    ++this->taken_passes;
  }
  void other(D d, typename B::I, typename B::M in) {
    auto x = this->get(d, &L::x);
    const auto drift = hn::Mul(this->get(d, &L::energy), hn::Set(d, 0.01f));
    for (int k = 0; k < L::steps; ++k) x = hn::Add(hn::Mul(x, hn::Set(d, 0.998f)), drift);
    this->put(d, &L::x, x, in);
    ++this->other_passes;
  }
};

template <class D>
struct March : Warp<D, lanes::March> {
  using L = lanes::March;
  using B = Warp<D, L>;
  using V = typename B::V;
  using B::B;
  static V field(D d, V x, V y, V z) {
    const V cx = hn::Sub(x, hn::Round(x)), cy = hn::Sub(y, hn::Round(y)), cz = hn::Sub(z, hn::Round(z));
    return hn::Sub(hn::Sqrt(hn::Add(hn::Add(hn::Mul(cx, cx), hn::Mul(cy, cy)), hn::Mul(cz, cz))), hn::Set(d, 0.3f));
  }
  V here(D d, float above = 0) const {
    return field(d, this->get(d, &L::x), hn::Add(this->get(d, &L::y), hn::Set(d, above)), this->get(d, &L::z));
  }
  void go(D d, V by, typename B::M in) {
    this->put(d, &L::x, hn::Add(this->get(d, &L::x), hn::Mul(this->get(d, &L::dx), by)), in);
    this->put(d, &L::y, hn::Add(this->get(d, &L::y), hn::Mul(this->get(d, &L::dy), by)), in);
    this->put(d, &L::z, hn::Add(this->get(d, &L::z), by), in);
  }
  typename B::M condition(D d, typename B::I, typename B::M) const { return hn::Lt(here(d), hn::Set(d, 0.15f)); }
  void taken(D d, typename B::I, typename B::M in) {
    const V at = here(d), slope = hn::Mul(hn::Sub(here(d, 0.001f), at), hn::Set(d, 1000.0f));
    const V light = hn::Mul(hn::Max(slope, hn::Zero(d)), hn::Sub(hn::Set(d, 0.15f), at));
    this->put(d, &L::fog, hn::Add(this->get(d, &L::fog), light), in);
    go(d, hn::Max(at, hn::Set(d, 0.02f)), in);
    ++this->taken_passes;
  }
  void other(D d, typename B::I, typename B::M in) {
    go(d, here(d), in);
    ++this->other_passes;
  }
};

template <class D>
using Queens = Warp<D, lanes::Queens>;
template <class D>
using Align = Warp<D, lanes::Align>;

}  // namespace HWY_NAMESPACE
}  // namespace kernels
HWY_AFTER_NAMESPACE();

#endif  // CONVERGE_TEST_VECTORS_H_
