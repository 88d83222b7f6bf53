// Coalescing and bank conflicts by their definition (kernelcast/bind.h): distinct pieces of memory among the active
// lanes. With probabilities, a piece is touched unless every lane that maps to it is idle. The sort is skipped where
// addresses rise from lane to lane, which is nearly always.
#include "profile/warp_request.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/int_math.h"
#include "profile/residues.h"

namespace kernelcast {
namespace {

std::int64_t floor_of(std::int64_t a, std::int64_t b) {
  if (is_power_of_two(b)) return a >> log2_exact(b);
  const std::int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

// One lane touching one piece; idle = 1 - probability.
struct Touch {
  std::int64_t piece;
  double idle;
};

double distinct(std::vector<Touch>& touches, bool certain) {
  const auto before = [](const Touch& a, const Touch& b) { return a.piece < b.piece; };
  if (!std::is_sorted(touches.begin(), touches.end(), before)) std::stable_sort(touches.begin(), touches.end(), before);
  double sum = 0;
  for (std::size_t i = 0; i < touches.size();) {
    double none = 1;
    std::size_t j = i;
    for (; j < touches.size() && touches[j].piece == touches[i].piece; ++j) none *= touches[j].idle;
    sum += certain ? 1.0 : 1.0 - none;
    i = j;
  }
  return sum;
}

struct Counter {
  const RequestRule& rule;
  const MemoryGeometry& g;
  std::span<const std::int64_t> addresses;
  std::int64_t shift;
  std::span<const double> probability;
  bool certain;
  std::vector<Touch> touches{};
  std::vector<std::pair<std::int64_t, std::int64_t>> words{};  // (bank, word or lane)

  [[nodiscard]] double idle(std::size_t t) const {
    return 1.0 - (probability.size() == 1 ? probability[0] : probability[t]);
  }

  template <class F>
  static void for_lanes(std::uint64_t bits, F f) {
    for (; bits != 0; bits &= bits - 1) f(static_cast<int>(std::countr_zero(bits)));
  }

  double pieces(std::uint64_t bits, std::size_t first, std::int64_t size) {
    touches.clear();
    for_lanes(bits, [&](int lane) {
      const std::size_t t = first + lane;
      const std::int64_t begin = addresses[t] + shift, last = begin + rule.bytes - 1;
      std::int64_t previous = 0;
      bool any = false;
      const auto touch = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t p = floor_of(from, size); p <= floor_of(to, size); ++p) {
          if (any && p == previous) continue;
          touches.push_back({p, idle(t)});
          previous = p;
          any = true;
        }
      };
      if (rule.space == MemorySpace::local && !rule.physical) {
        for (std::int64_t w = floor_of(begin, 4); w <= floor_of(last, 4); ++w) {
          const std::int64_t at = (w * g.warp_size + lane) * 4;
          touch(at + std::max<std::int64_t>(begin - w * 4, 0), at + std::min<std::int64_t>(last - w * 4, 3));
        }
      } else {
        touch(begin, last);
      }
    });
    return distinct(touches, certain);
  }

  double distinct_addresses(std::uint64_t bits, std::size_t first) {
    touches.clear();
    for_lanes(bits, [&](int lane) { touches.push_back({addresses[first + lane], idle(first + lane)}); });
    return distinct(touches, certain);
  }

  [[nodiscard]] double none_of(std::uint64_t bits, std::size_t first) const {
    double none = 1;
    for_lanes(bits, [&](int lane) { none *= idle(first + static_cast<std::size_t>(lane)); });
    return none;
  }
  [[nodiscard]] double any_of(std::uint64_t bits, std::size_t first) const {
    return certain ? (bits == 0 ? 0.0 : 1.0) : 1 - none_of(bits, first);
  }

  /// Calls `f` with the lanes of each part or group of `lanes` that has any.
  template <class F>
  void for_parts(std::uint64_t bits, int lanes, F f) const {
    for (int begin = 0; begin < g.warp_size; begin += lanes)
      if (const std::uint64_t mine = bits & (lanes >= 64 ? ~0ULL : ((1ULL << lanes) - 1) << begin); mine != 0) f(mine);
  }

  // `segments` of the request, whose pieces `touches` still holds.
  double l1_passes(std::uint64_t bits, std::size_t first, double segments) {
    double tags = l1_tag_passes(g, segments, 0);
    if (g.l1_tag_banks > 0) {
      std::vector<int> together(static_cast<std::size_t>(g.l1_tag_banks));
      for (std::size_t i = 0; i < touches.size(); ++i)
        if (i == 0 || touches[i].piece != touches[i - 1].piece)
          ++together[static_cast<std::size_t>(residue_of(touches[i].piece, g.l1_tag_banks))];
      tags = any_of(bits, first) * *std::max_element(together.begin(), together.end());
    } else if (g.l1_tags > 0) {
      const double any = any_of(bits, first);
      tags = any + (segments - any) / g.l1_tags;
    }
    double data = 0;
    for_parts(bits, lanes_of_part(g.warp_size, rule.bytes), [&](std::uint64_t mine) {
      data += any_of(mine, first) * pieces_in_one_bank(mine, first, addresses, shift, rule.bytes, 4, g.l1_banks);
    });
    return std::max(data, tags);
  }

  /// Whether the words of a group's lanes rise by one from lane to lane or are the same, or hardly leave one word.
  [[nodiscard]] bool together(std::uint64_t group, std::size_t first) const {
    if (rule.bytes > 4) return false;
    std::int64_t low = INT64_MAX, high = INT64_MIN, start = 0, first_word = 0;
    bool same = true, rising = true, any = false;
    for_lanes(group, [&](int lane) {
      const std::int64_t at = addresses[first + static_cast<std::size_t>(lane)] + shift, word = floor_of(at, 4);
      low = std::min(low, word);
      high = std::max(high, floor_of(at + rule.bytes - 1, 4));
      if (!any) {
        start = word - lane;
        first_word = word;
      }
      any = true;
      rising = rising && word - lane == start;
      same = same && word == first_word;
    });
    return rule.bytes == 4 ? rising || same : high - low <= 1;
  }

  double grouped_passes(std::uint64_t bits, std::size_t first) {
    double passes = 0;
    std::uint64_t pass = 0;  // lanes of the groups that go with `leader`
    int groups = 0;
    std::int64_t leader = 0;
    const auto end_pass = [&] {
      if (pass != 0) passes += any_of(pass, first);
      pass = 0;
      groups = 0;
    };
    for_parts(bits, g.l1_group, [&](std::uint64_t group) {
      if (!together(group, first)) {
        passes += any_of(group, first) * split_passes(group, first);
        return;
      }
      const std::int64_t begin = addresses[first + static_cast<std::size_t>(std::countr_zero(group))];
      if (groups == g.l1_group || std::abs(begin - leader) >= g.segment_bytes) end_pass();
      if (pass == 0) leader = begin;
      pass |= group;
      ++groups;
    });
    end_pass();
    return passes;
  }

  /// Of a group whose lanes are not side by side.
  int split_passes(std::uint64_t group, std::size_t first) {
    if (rule.bytes > 4) {
      const int piece = static_cast<int>(std::bit_ceil(static_cast<unsigned>(rule.bytes)));
      return pieces_in_one_bank(group, first, addresses, shift, rule.bytes, piece,
                                std::max(1, g.segment_bytes / piece));
    }
    const int in_one_bank = pieces_in_one_bank(group, first, addresses, shift, rule.bytes, 4, g.l1_banks);
    pieces(group, first, g.segment_bytes);
    return touches.front().piece != touches.back().piece ? std::max(in_one_bank, 2) : in_one_bank;
  }

  // `whole`: those of the whole warp.
  double segments_of_parts(std::uint64_t bits, std::size_t first, double whole) {
    const int part = lanes_of_part(g.warp_size, rule.bytes);
    if (part >= g.warp_size) return whole;
    double sum = 0;
    for (int begin = 0; begin < g.warp_size; begin += part)
      sum += pieces(bits & ((std::uint64_t{1} << part) - 1) << begin, first, g.segment_bytes);
    return sum;
  }

  double passes(std::uint64_t bits, std::size_t first) {
    const int wide = std::max(1, rule.bytes / g.bank_bytes);
    int part = std::max(1, std::min(g.warp_size, g.shared_banks) / wide);
    if (g.shared_pairs != 0 && rule.load && wide > 1 &&
        lanes_are_pairs(bits, [&](int lane) { return addresses[first + static_cast<std::size_t>(lane)]; }))
      part *= 2;
    double sum = 0;
    for (int begin = 0; begin < g.warp_size; begin += part) {
      const std::uint64_t window = part >= 64 ? ~0ULL : ((1ULL << part) - 1) << begin;
      const std::uint64_t mine = bits & window;
      if (mine == 0) continue;
      words.clear();
      double none = 1;
      for_lanes(mine, [&](int lane) {
        const std::size_t t = first + lane;
        none *= idle(t);
        const std::int64_t from = floor_of(addresses[t] + shift, g.bank_bytes);
        const std::int64_t to = floor_of(addresses[t] + shift + rule.bytes - 1, g.bank_bytes);
        for (std::int64_t w = from; w <= to; ++w) {
          const std::int64_t bank = w - floor_of(w, g.shared_banks) * g.shared_banks;
          words.emplace_back(bank, rule.atomic ? w * 64 + lane : w);
        }
      });
      std::sort(words.begin(), words.end());
      words.erase(std::unique(words.begin(), words.end()), words.end());
      std::size_t most = 0, run = 0;
      for (std::size_t i = 0; i < words.size(); ++i) {
        run = i > 0 && words[i].first == words[i - 1].first ? run + 1 : 1;
        most = std::max(most, run);
      }
      sum += (certain ? 1.0 : 1.0 - none) * static_cast<double>(most);
    }
    return sum;
  }
};

}  // namespace

double lanes_of_shared_part(int bytes, const MemoryGeometry& g) {
  const double wide = std::max(1.0, static_cast<double>(bytes) / g.bank_bytes);
  return std::max(1.0, std::min(g.warp_size, g.shared_banks) / wide);
}

double least_shared_passes(const AccessCount& count, int bytes, const MemoryGeometry& g) {
  if (count.requests <= 0) return 0;
  return count.requests * std::ceil(count.lanes / count.requests / lanes_of_shared_part(bytes, g) - 1e-9);
}

int pieces_in_one_bank(std::uint64_t lanes, std::size_t first, std::span<const std::int64_t> addresses,
                       std::int64_t shift, int bytes, int piece, int banks) {
  std::array<std::int64_t, 512> all;  // pieces; the lanes of a part have 65 words or so
  std::size_t n = 0;
  for (std::uint64_t bits = lanes; bits != 0; bits &= bits - 1) {
    const std::int64_t at = addresses[first + static_cast<std::size_t>(std::countr_zero(bits))] + shift;
    for (std::int64_t p = floor_of(at, piece); p <= floor_of(at + bytes - 1, piece); ++p)
      if (n < all.size()) all[n++] = p;
  }
  const std::span pieces(all.data(), n);
  if (!std::is_sorted(pieces.begin(), pieces.end())) std::sort(pieces.begin(), pieces.end());
  const auto end = std::unique(pieces.begin(), pieces.end());
  std::array<int, 64> in_bank;
  int most = 0;
  if (banks <= static_cast<int>(in_bank.size())) {
    std::fill_n(in_bank.begin(), banks, 0);
    for (auto p = pieces.begin(); p != end; ++p)
      most = std::max(most, ++in_bank[static_cast<std::size_t>(residue_of(*p, banks))]);
    return most;
  }
  for (auto p = pieces.begin(); p != end; ++p) *p = residue_of(*p, banks);
  std::sort(pieces.begin(), end);
  int run = 0;
  for (auto p = pieces.begin(); p != end; ++p) {
    run = p != pieces.begin() && *p == *(p - 1) ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

std::int64_t shift_period(const RequestRule& rule, const MemoryGeometry& g) {
  if (rule.space == MemorySpace::shared) return g.bank_bytes;
  const std::int64_t both = std::lcm<std::int64_t>(g.sector_bytes, g.segment_bytes);
  if (rule.space != MemorySpace::local || rule.physical) return both;
  return 4 * (both / std::gcd<std::int64_t>(both, 4 * g.warp_size));  // a word of all lanes is 4 * warp_size bytes
}

/// Bytes after which banks and tag banks of the L1 repeat.
static std::int64_t l1_period(const RequestRule& rule, const MemoryGeometry& g) {
  if (!in_parts(rule) || g.l1_banks <= 0) return 1;
  return std::lcm<std::int64_t>(4 * g.l1_banks, std::int64_t{g.segment_bytes} * std::max(1, g.l1_tag_banks));
}

// Take the axes by rising stride. Lanes that differ in the axes so far lie within `reach` bytes; if the next stride is
// at least reach + M, lanes with different ids along it are at least M apart, M being a multiple of every piece, and
// never share a piece; which pieces each touches depends on stride mod M. All later axes must then be far apart, too.
std::array<std::int64_t, 3> canonical_stride(const RequestRule& rule, const MemoryGeometry& g, const BlockLanes& block,
                                             const std::array<std::int64_t, 3>& stride) {
  constexpr std::int64_t longest = std::int64_t{1} << 44;  // times 2^16 threads stays within 64 bits
  const std::int64_t modulus = rule.space == MemorySpace::shared
                                   ? static_cast<std::int64_t>(g.shared_banks) * g.bank_bytes
                                   : std::lcm(shift_period(rule, g), l1_period(rule, g));
  const std::int64_t size[3] = {block.size.x, block.size.y, block.size.z};
  std::int64_t apart[3];
  for (int axis = 0; axis < 3; ++axis) {
    if (stride[axis] >= longest || stride[axis] <= -longest) return stride;
    apart[axis] = std::abs(stride[axis]);
  }
  int order[3] = {0, 1, 2};
  if (apart[order[0]] > apart[order[1]]) std::swap(order[0], order[1]);
  if (apart[order[1]] > apart[order[2]]) std::swap(order[1], order[2]);
  if (apart[order[0]] > apart[order[1]]) std::swap(order[0], order[1]);
  std::array<std::int64_t, 3> out = stride;
  std::int64_t reach = rule.bytes, new_reach = rule.bytes;
  bool far = false;
  for (int axis : order) {
    if (stride[axis] == 0) continue;
    if (apart[axis] >= reach + modulus) {
      far = true;
      const std::int64_t least = (new_reach + 2 * modulus - 1) / modulus * modulus;
      out[axis] = least + residue_of(stride[axis], modulus);
    } else if (far) {
      return stride;
    }
    reach += apart[axis] * (size[axis] - 1);
    new_reach += std::abs(out[axis]) * (size[axis] - 1);
  }
  return out;
}

RequestCost count_requests(const RequestRule& rule, const MemoryGeometry& geometry, const LaneSet& set,
                           std::span<const std::int64_t> addresses, std::int64_t shift,
                           std::span<const double> probability) {
  const bool certain =
      std::all_of(probability.begin(), probability.end(), [](double p) { return p == 1.0 || p == 0.0; });
  Counter c{rule, geometry, addresses, shift, probability, certain};
  RequestCost cost;
  for (std::size_t w = 0; w < set.warp_bits.size(); ++w) {
    const std::uint64_t bits = set.warp_bits[w];
    if (bits == 0) continue;
    const std::size_t first = w * geometry.warp_size;
    if (rule.space == MemorySpace::shared) {
      cost.bank_passes += c.passes(bits, first);
      continue;
    }
    cost.sectors += c.pieces(bits, first, geometry.sector_bytes);
    const double segments = c.pieces(bits, first, geometry.segment_bytes);
    cost.segments += segments;
    if (goes_by_groups(rule, geometry))
      cost.bank_passes += c.grouped_passes(bits, first);
    else if (in_parts(rule))
      cost.bank_passes +=
          geometry.l1_banks > 0 ? c.l1_passes(bits, first, segments) : c.segments_of_parts(bits, first, segments);
    if (rule.space == MemorySpace::constant) cost.bank_passes += c.distinct_addresses(bits, first);
  }
  return cost;
}

}  // namespace kernelcast
