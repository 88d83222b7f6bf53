// Instructions in which the lanes of a warp see each other: votes, shuffles, permutations, reductions. Semantics: PTX
// ISA
// ("vote.sync", "match.sync", "shfl.sync", "redux.sync") and the AMD instruction set guides (ds_bpermute_b32,
// ds_permute_b32, ds_swizzle_b32, v_readlane_b32, v_mbcnt_lo_u32_b32). Lanes that are off take no part.
#include <bit>
#include <cstring>

#include "execute/block_runner.h"
#include "execute/for_lanes.h"

namespace kernelcast::interpreter {
namespace {}  // namespace

void BlockRunner::vote(Warp& w, std::uint64_t lanes, const PreparedOp& op) {
  shared_.warp_barrier(running_);
  const SimtInstruction& i = program_.code[op.source];
  const auto what = static_cast<VoteOp>(i.imm);
  const int size = size_of(i.type);
  if (what == VoteOp::match_any || what == VoteOp::match_all) {
    std::uint64_t result[64] = {};
    for_lanes(lanes, [&](int l) {
      const std::uint64_t mine = bits_at(w, op.a, size, l);
      for_lanes(lanes, [&](int k) {
        if (bits_at(w, op.a, size, k) == mine) result[l] |= std::uint64_t{1} << k;
      });
      if (what == VoteOp::match_all && result[l] != lanes) result[l] = 0;
    });
    for_lanes(lanes, [&](int l) { set_bits(w, op.dst, op.dst_size, l, result[l]); });
    return;
  }
  std::uint64_t set = 0;
  for_lanes(lanes, [&](int l) {
    if (bits_at(w, op.a, size, l) != 0) set |= std::uint64_t{1} << l;
  });
  std::uint64_t value = set;
  if (what == VoteOp::all) value = set == lanes ? 1 : 0;
  if (what == VoteOp::any) value = set != 0 ? 1 : 0;
  if (what == VoteOp::uniform) value = set == 0 || set == lanes ? 1 : 0;
  for_lanes(lanes, [&](int l) { set_bits(w, op.dst, op.dst_size, l, value); });
}

void BlockRunner::shuffle(Warp& w, std::uint64_t lanes, const PreparedOp& op) {
  shared_.warp_barrier(running_);
  const SimtInstruction& i = program_.code[op.source];
  const int size = size_of(i.type);
  std::uint64_t value[64] = {};
  bool good[64] = {};
  for_lanes(lanes, [&](int l) {
    const auto b = static_cast<int>(bits_at(w, op.b, 4, l) & 0x1fU);
    const auto c = static_cast<unsigned>(bits_at(w, op.c, 4, l));
    const int clamp = static_cast<int>(c & 0x1fU), segment = static_cast<int>(c >> 8 & 0x1fU);
    const int most = (l & segment) | (clamp & ~segment);
    const int least = l & segment;
    int from = l;
    bool inside = false;
    switch (static_cast<ShuffleOp>(i.imm)) {
      case ShuffleOp::up:
        from = l - b;
        inside = from >= most;
        break;
      case ShuffleOp::down:
        from = l + b;
        inside = from <= most;
        break;
      case ShuffleOp::butterfly:
        from = l ^ b;
        inside = from <= most;
        break;
      case ShuffleOp::index:
        from = least | (b & ~segment);
        inside = from <= most;
        break;
    }
    if (!inside) from = l;
    good[l] = inside;
    value[l] = bits_at(w, op.a, size, from);
  });
  for_lanes(lanes, [&](int l) {
    set_bits(w, op.dst, size, l, value[l]);
    if (i.dst2 != no_register) set_bits(w, op.dst2, 1, l, good[l] ? 1 : 0);
  });
}

void BlockRunner::permute(Warp& w, std::uint64_t lanes, const PreparedOp& op) {
  shared_.warp_barrier(running_);
  const SimtInstruction& i = program_.code[op.source];
  const int size = size_of(i.type);
  const auto what = static_cast<PermuteOp>(i.imm & 0xff);
  const std::int64_t more = i.imm >> 8;
  std::uint64_t value[64] = {};
  const auto a = [&](int l) { return bits_at(w, op.a, size, l); };
  const auto b = [&](int l) { return bits_at(w, op.b, 4, l); };
  const int first = std::countr_zero(lanes);
  for_lanes(lanes, [&](int l) {
    switch (what) {
      case PermuteOp::bpermute: {
        const int from = static_cast<int>(b(l) >> 2) % width_;
        value[l] = (lanes >> from & 1U) != 0 ? a(from) : 0;
        break;
      }
      case PermuteOp::permute:
        value[static_cast<int>(b(l) >> 2) % width_] = a(l);
        break;
      case PermuteOp::swizzle: {
        int from = l;
        if ((more & 0x8000) != 0) {  // within each four lanes
          from = (l & ~3) | static_cast<int>(more >> (2 * (l & 3)) & 3);
        } else {  // within 32 lanes: and, or, xor masks
          const int low = l & 31;
          from = (l & ~31) | static_cast<int>((((low & more) | (more >> 5)) ^ (more >> 10)) & 31);
        }
        value[l] = (lanes >> from & 1U) != 0 ? a(from) : 0;
        break;
      }
      case PermuteOp::read_first_lane:
        value[l] = a(first);
        break;
      case PermuteOp::read_lane:
        value[l] = a(static_cast<int>(b(first)) % width_);
        break;
      case PermuteOp::mbcnt_low:
      case PermuteOp::mbcnt_high: {
        const bool high = what == PermuteOp::mbcnt_high;
        const std::uint64_t below = (std::uint64_t{1} << l) - 1;
        const std::uint64_t mask = a(l) & (high ? below >> 32 : below & 0xffffffffU);
        value[l] = b(l) + static_cast<std::uint64_t>(std::popcount(mask));
        break;
      }
      default:
        value[l] = a(l);
    }
  });
  for_lanes(lanes, [&](int l) { set_bits(w, op.dst, size, l, value[l]); });
}

void BlockRunner::reduce(Warp& w, std::uint64_t lanes, const PreparedOp& op) {
  shared_.warp_barrier(running_);
  const SimtInstruction& i = program_.code[op.source];
  std::uint32_t sum = 0;
  bool first = true;
  for_lanes(lanes, [&](int l) {
    const auto v = static_cast<std::uint32_t>(bits_at(w, op.a, 4, l));
    const auto s = static_cast<std::int32_t>(sum), t = static_cast<std::int32_t>(v);
    if (first) {
      sum = v;
      first = false;
      return;
    }
    switch (static_cast<AtomicOp>(i.imm)) {
      case AtomicOp::add:
        sum += v;
        break;
      case AtomicOp::and_:
        sum &= v;
        break;
      case AtomicOp::or_:
        sum |= v;
        break;
      case AtomicOp::xor_:
        sum ^= v;
        break;
      case AtomicOp::smin:
        sum = s < t ? sum : v;
        break;
      case AtomicOp::smax:
        sum = s > t ? sum : v;
        break;
      case AtomicOp::umin:
        sum = std::min(sum, v);
        break;
      default:
        sum = std::max(sum, v);
    }
  });
  for_lanes(lanes, [&](int l) { set_bits(w, op.dst, 4, l, sum); });
}

}  // namespace kernelcast::interpreter
