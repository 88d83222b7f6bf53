// Lane sets are interned because the same few masks (everybody, the tail of a row) meet the same few address patterns
// at every launch: what they cost together is then one lookup.
#include "profile/lanes.h"

#include <algorithm>

#include "kernelcast/error.h"

namespace kernelcast {

BlockLanes& LaneTables::find_block(const Dim3& size) {
  const auto [at, fresh] = blocks_.try_emplace(size);
  BlockLanes& b = at->second;
  if (!fresh) return b;
  b.size = size;
  b.warp_size = warp_size_;
  b.threads = static_cast<std::size_t>(size.count());
  b.warps = (b.threads + warp_size_ - 1) / warp_size_;
  for (auto& ids : b.id) ids.reserve(b.threads);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x) {
        b.id[0].push_back(x);
        b.id[1].push_back(y);
        b.id[2].push_back(z);
      }
  return b;
}

std::span<const std::uint64_t> LaneTables::full_bits(const BlockLanes& block) {
  if (full_of_ != &block) {
    full_.assign(block.warps, block.warp_size == 64 ? ~0ULL : (1ULL << block.warp_size) - 1);
    if (const std::size_t rest = block.threads % block.warp_size; rest != 0) full_.back() = (1ULL << rest) - 1;
    full_of_ = &block;
  }
  return full_;
}

namespace {

void find_bounds(LaneSet& set) {
  const BlockLanes& block = *set.block;
  bool first = true;
  for (std::size_t w = 0; w < set.warp_bits.size(); ++w)
    for (std::uint64_t m = set.warp_bits[w]; m != 0; m &= m - 1) {
      const std::size_t t = w * block.warp_size + __builtin_ctzll(m);
      for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t id = block.id[axis][t];
        set.low[axis] = first ? id : std::min(set.low[axis], id);
        set.high[axis] = first ? id : std::max(set.high[axis], id);
      }
      first = false;
    }
  double box = 1;
  for (int axis = 0; axis < 3; ++axis) box *= static_cast<double>(set.high[axis] - set.low[axis] + 1);
  set.rectangular = box == set.lanes;
}

}  // namespace

std::pair<Int128, Int128> LaneSet::scattered_reach(const std::array<std::int64_t, 3>& stride) const {
  Int128 least = 0, most = 0;
  bool first = true;
  for (std::size_t w = 0; w < warp_bits.size(); ++w)
    for (std::uint64_t m = warp_bits[w]; m != 0; m &= m - 1) {
      const std::size_t t = w * block->warp_size + __builtin_ctzll(m);
      Int128 a = 0;
      for (int axis = 0; axis < 3; ++axis) a += static_cast<Int128>(stride[axis]) * block->id[axis][t];
      least = first ? a : std::min(least, a);
      most = first ? a : std::max(most, a);
      first = false;
    }
  return {least, most};
}

const LaneSet& LaneTables::intern(const BlockLanes& block, std::span<const std::uint64_t> warp_bits) {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(&block);
  for (std::uint64_t w : warp_bits) {
    h = (h ^ w) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 29;
  }
  auto [it, end] = sets_.equal_range(h);
  for (; it != end; ++it)
    if (it->second->block == &block && std::equal(warp_bits.begin(), warp_bits.end(), it->second->warp_bits.begin()))
      return *it->second;
  auto set = std::make_unique<LaneSet>();
  set->block = &block;
  set->warp_bits.assign(warp_bits.begin(), warp_bits.end());
  for (std::uint64_t w : warp_bits) {
    set->lanes += __builtin_popcountll(w);
    set->warps += w != 0;
  }
  find_bounds(*set);
  return *sets_.emplace(h, std::move(set))->second;
}

void LaneTables::clear() {
  sets_.clear();
  for (auto& [size, b] : blocks_) b.all = nullptr;
  if (blocks_.size() > 64) {
    blocks_.clear();
    last_ = nullptr;
    full_of_ = nullptr;
  }
}

void LaneProgram::evaluate(const Index& index, const Scope& scope, std::span<const Symbol> parameters,
                           std::span<const std::int64_t> parameter_values, const Box& box, const BlockLanes& block,
                           std::span<const std::uint32_t> lanes, std::vector<std::int64_t>& out) {
  if (!ready_) {
    std::vector<Symbol> inputs;
    for (Symbol s : index.expression().symbols()) {
      inputs.push_back(s);
      if (const int v = scope.find(s); v >= 0) {
        sources_.push_back({true, v});
      } else {
        const auto p = std::find(parameters.begin(), parameters.end(), s);
        if (p == parameters.end()) throw InternalError("no value for the symbol " + s.name());
        sources_.push_back({false, static_cast<int>(p - parameters.begin())});
      }
    }
    program_ = CompiledExprs(std::span(&index.expression(), 1), inputs);
    ready_ = true;
  }
  // One for all programs of a thread: hundreds of them, each used a few times, would each touch memory of its own.
  static thread_local std::vector<std::int64_t> in, scratch;
  const std::size_t n = lanes.size();
  if (in.size() < n * sources_.size()) in.resize(n * sources_.size());
  out.resize(n);
  if (n == 0) return;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    std::int64_t* row = in.data() + i * n;
    const Source& s = sources_[i];
    if (s.variable && s.index < first_outer) {
      for (std::size_t l = 0; l < n; ++l) row[l] = block.id[s.index][lanes[l]];
    } else {
      std::fill(row, row + n, s.variable ? box.lo[s.index] : parameter_values[s.index]);
    }
  }
  program_.evaluate_lanes(in, out, n, scratch);
}

}  // namespace kernelcast
