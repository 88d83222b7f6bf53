// Idea: the definition at the top of kernelcast/bind.h, executed literally. No sharing, no closed forms, no classes.
#include "twin.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace kernelcast::twin {
namespace {

std::int64_t floor_of(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

double value_of(const Unknown& u, const Launch& launch) {
  const auto given = launch.assume.find(u.key);
  return given == launch.assume.end() ? u.default_value : given->second;
}

using Lanes = std::vector<double>;  // probability of being active, by lane

class Machine {
 public:
  Machine(const KernelProfile& p, const Launch& l, const MemoryGeometry& g) : p_(p), l_(l), g_(g) {
    out_.block_counts.resize(p.blocks.size());
    out_.branch_counts.resize(p.branches.size());
    const auto warps = static_cast<std::size_t>((l.block.count() + g.warp_size - 1) / g.warp_size);
    out_.by_warp.assign(p.blocks.size(), std::vector<double>(warps, 0.0));
    std::size_t n = 0;
    for (const auto& b : p.blocks) {
      first_access_.push_back(n);
      n += b.accesses.size();
    }
    out_.access_counts.resize(n);
  }

  Counts run() {
    for (group_[2] = 0; group_[2] < l_.grid.z; ++group_[2])
      for (group_[1] = 0; group_[1] < l_.grid.y; ++group_[1])
        for (group_[0] = 0; group_[0] < l_.grid.x; ++group_[0])
          for (block_ = 0; block_ < p_.blocks.size(); ++block_) run_block();
    for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
      out_.warp_ops += p_.blocks[b].ops.scaled(out_.block_counts[b].warps);
      out_.thread_ops += p_.blocks[b].ops.scaled(out_.block_counts[b].lanes);
      out_.thread_ops += p_.blocks[b].issued_elsewhere.scaled_lanes(out_.block_counts[b].lanes);
    }
    for (const auto* touched : {&read_, &written_})
      for (const auto& [buffer, bytes] : *touched) all_[buffer].insert(bytes.begin(), bytes.end());
    for (const auto& [buffer, bytes] : read_) out_.footprint_read_bytes += static_cast<double>(bytes.size());
    for (const auto& [buffer, bytes] : written_) out_.footprint_write_bytes += static_cast<double>(bytes.size());
    for (const auto& [buffer, bytes] : all_) out_.footprint_bytes += static_cast<double>(bytes.size());
    return out_;
  }

 private:
  void run_block() {
    const Block& block = p_.blocks[block_];
    chain_.clear();
    for (int l = block.loop; l >= 0; l = p_.loops[l].parent) chain_.insert(chain_.begin(), l);
    find_uniform_unknowns(block);
    most_.clear();
    const std::int64_t threads = l_.block.count();
    for (std::int64_t first = 0; first < threads; first += g_.warp_size) run_warp(first, threads);
    for (const auto& [iteration, execution] : most_) {
      out_.barriers += block.barriers * execution;
      out_.flat_barriers += block.flat_barriers * execution;
    }
  }

  void find_uniform_unknowns(const Block& block) {
    uniform_.clear();
    auto look = [&](const Guard& g) {
      for (const auto& path : g.paths)
        for (const auto& f : path.factors)
          if (p_.unknowns[f.unknown].uniform && uniform_.size() < 8 &&
              std::find(uniform_.begin(), uniform_.end(), f.unknown) == uniform_.end())
            uniform_.push_back(f.unknown);
    };
    for (int l : chain_) look(p_.loops[l].guard);
    look(block.guard);
  }

  void run_warp(std::int64_t first, std::int64_t threads) {
    warp_ = static_cast<std::size_t>(first / g_.warp_size);
    values_.assign(g_.warp_size, {});
    Lanes active(g_.warp_size, 0.0);
    for (int lane = 0; lane < g_.warp_size; ++lane) {
      const std::int64_t t = first + lane;
      if (t >= threads) continue;
      active[lane] = 1;
      SymbolValues& v = values_[lane];
      const std::array<std::int64_t, 3> local{t % l_.block.x, t / l_.block.x % l_.block.y,
                                              t / (l_.block.x * l_.block.y)};
      for (int axis = 0; axis < 3; ++axis) {
        v[local_id(axis)] = local[axis];
        v[group_id(axis)] = group_[axis];
        v[local_size(axis)] = l_.block.array()[axis];
        v[num_groups(axis)] = l_.grid.array()[axis];
      }
      v[dynamic_shared()] = l_.dynamic_shared_bytes;
      for (const auto& [name, value] : l_.args) {
        const auto* whole = std::get_if<std::int64_t>(&value);
        if (whole) v[argument(name)] = *whole;
        v[real_argument(name)] = *order_of(whole ? static_cast<double>(*whole) : std::get<double>(value));
      }
    }
    iteration_.clear();
    const std::size_t assignments = std::size_t{1} << uniform_.size();
    run_loop(0, std::vector<Lanes>(assignments, active), 1.0);
  }

  /// Probability, for each assignment of the uniform unknowns and lane, of being active after the guard.
  void apply(const Guard& guard, std::vector<Lanes>& active) {
    for (int lane = 0; lane < g_.warp_size; ++lane) {
      if (!reachable(active, lane)) continue;
      std::vector<double> sum(active.size(), 0.0);
      for (const auto& path : guard.paths) {
        if (path.condition.evaluate(values_[lane]) == 0) continue;
        for (std::size_t a = 0; a < active.size(); ++a) {
          double q = 1;
          for (const auto& f : path.factors) {
            const auto at = std::find(uniform_.begin(), uniform_.end(), f.unknown);
            const double p = at == uniform_.end() ? value_of(p_.unknowns[f.unknown], l_)
                                                  : static_cast<double>(a >> (at - uniform_.begin()) & 1);
            q *= f.taken ? p : 1 - p;
          }
          sum[a] += q;
        }
      }
      for (std::size_t a = 0; a < active.size(); ++a) active[a][lane] *= sum[a];
    }
  }

  static bool reachable(const std::vector<Lanes>& active, int lane) {
    return std::any_of(active.begin(), active.end(), [&](const Lanes& q) { return q[lane] > 0; });
  }

  void run_loop(std::size_t depth, std::vector<Lanes> active, double weight) {
    if (depth == chain_.size()) return execute(std::move(active), weight);
    const Loop& loop = p_.loops[chain_[depth]];
    apply(loop.guard, active);
    std::vector<double> trips(g_.warp_size, 0.0);
    double most = 0;
    for (int lane = 0; lane < g_.warp_size; ++lane) {
      if (!reachable(active, lane)) continue;
      trips[lane] = loop.unknown >= 0 ? value_of(p_.unknowns[loop.unknown], l_)
                                      : static_cast<double>(loop.trips.evaluate(values_[lane]));
      most = std::max(most, trips[lane]);
    }
    for (std::int64_t c = 0; static_cast<double>(c) < most; ++c) {
      std::vector<Lanes> inside = active;
      for (int lane = 0; lane < g_.warp_size; ++lane) {
        values_[lane][loop.counter] = c;
        if (static_cast<double>(c) >= trips[lane])
          for (auto& q : inside) q[lane] = 0;
      }
      iteration_.push_back(c);
      run_loop(depth + 1, std::move(inside), weight * std::min(1.0, most - static_cast<double>(c)));
      iteration_.pop_back();
    }
  }

  static double any(const Lanes& q) {
    double none = 1;
    for (double x : q) none *= 1 - x;
    return 1 - none;
  }

  void execute(std::vector<Lanes> active, double weight) {
    const Block& block = p_.blocks[block_];
    apply(block.guard, active);
    double executed = 0;
    for (std::size_t a = 0; a < active.size(); ++a) {
      double probability = weight;
      for (std::size_t u = 0; u < uniform_.size(); ++u) {
        const double p = value_of(p_.unknowns[uniform_[u]], l_);
        probability *= a >> u & 1 ? p : 1 - p;
      }
      const Lanes& q = active[a];
      if (probability == 0 || any(q) == 0) continue;
      executed += probability * any(q);
      out_.block_counts[block_].warps += probability * any(q);
      out_.by_warp[block_][warp_] += probability * any(q);
      for (double x : q) out_.block_counts[block_].lanes += probability * x;
      for (std::size_t i = 0; i < block.accesses.size(); ++i)
        access(block.accesses[i], q, probability, out_.access_counts[first_access_[block_] + i]);
      for (std::size_t i = 0; i < p_.branches.size(); ++i)
        if (p_.branches[i].block == static_cast<int>(block_))
          branch(p_.branches[i], q, probability, out_.branch_counts[i]);
    }
    double& most = most_[iteration_];
    most = std::max(most, executed);
  }

  void branch(const Branch& b, const Lanes& q, double weight, BranchCount& count) {
    count.warps += weight * any(q);
    if (b.unknown >= 0) {
      const Unknown& u = p_.unknowns[b.unknown];
      if (u.uniform || u.kind != Unknown::Kind::probability) return;
      const double p = value_of(u, l_);
      double none = 1, no_taken = 1, no_other = 1;
      for (double x : q) {
        none *= 1 - x;
        no_taken *= 1 - x * p;
        no_other *= 1 - x * (1 - p);
      }
      count.divergent += weight * (1 - no_taken - no_other + none);
      return;
    }
    double no_true = 1, no_false = 1;
    for (int lane = 0; lane < g_.warp_size; ++lane)
      if (q[lane] > 0) (b.condition.evaluate(values_[lane]) != 0 ? no_true : no_false) *= 1 - q[lane];
    count.divergent += weight * (1 - no_true) * (1 - no_false);
  }

  void access(const Access& a, const Lanes& q, double weight, AccessCount& count) {
    std::vector<std::int64_t> shifts{0};
    shifts.insert(shifts.end(), a.also.begin(), a.also.end());
    for (std::int64_t shift : shifts) {
      std::vector<std::int64_t> address(g_.warp_size, 0);
      for (int lane = 0; lane < g_.warp_size; ++lane) {
        if (q[lane] == 0) continue;
        address[lane] =
            shift + (a.unknown >= 0 ? static_cast<std::int64_t>(std::floor(lane * value_of(p_.unknowns[a.unknown], l_)))
                                    : a.offset.evaluate(values_[lane]));
      }
      request(a, q, address, weight, count);
    }
  }

  void request(const Access& a, const Lanes& q, const std::vector<std::int64_t>& address, double weight,
               AccessCount& count) {
    count.requests += weight * any(q);
    for (double x : q) {
      count.lanes += weight * x;
      count.bytes += weight * x * a.bytes;
      count.words += weight * x * std::max(1, a.bytes / 4);
    }
    if (a.space == MemorySpace::shared) {
      count.bank_passes += weight * bank_passes(a, q, address);
      return;
    }
    std::map<std::int64_t, double> sectors, segments, addresses;   // probability that nobody touches it
    std::map<std::pair<int, std::int64_t>, double> part_segments;  // by half-warp for 8 bytes, by quarter for 16
    const int parts = a.bytes > 8 ? 4 : a.bytes > 4 ? 2 : 1;
    for (int lane = 0; lane < g_.warp_size; ++lane) {
      if (q[lane] == 0) continue;
      std::set<std::int64_t> mine_sector, mine_segment;
      for (int byte = 0; byte < a.bytes; ++byte) {
        std::int64_t at = address[lane] + byte;
        if (a.space == MemorySpace::local && a.unknown < 0) {
          const std::int64_t word = floor_of(at, 4);
          at = (word * g_.warp_size + lane) * 4 + (at - word * 4);
        }
        mine_sector.insert(floor_of(at, g_.sector_bytes));
        mine_segment.insert(floor_of(at, g_.segment_bytes));
        if (a.space == MemorySpace::global || a.space == MemorySpace::texture) touch(a, at);
      }
      for (auto s : mine_sector) sectors.emplace(s, 1.0).first->second *= 1 - q[lane];
      for (auto s : mine_segment) segments.emplace(s, 1.0).first->second *= 1 - q[lane];
      for (auto s : mine_segment)
        part_segments.emplace(std::pair(lane * parts / g_.warp_size, s), 1.0).first->second *= 1 - q[lane];
      addresses.emplace(address[lane], 1.0).first->second *= 1 - q[lane];
    }
    for (const auto& [s, none] : sectors) count.sectors += weight * (1 - none);
    for (const auto& [s, none] : segments) count.segments += weight * (1 - none);
    if ((a.space == MemorySpace::global || a.space == MemorySpace::texture) && g_.l1_banks > 0)
      count.bank_passes += weight * (g_.l1_group > 0 ? grouped_passes(a, q, address) : l1_passes(a, q, address));
    else if (a.space == MemorySpace::global || a.space == MemorySpace::texture)
      for (const auto& [s, none] : part_segments) count.bank_passes += weight * (1 - none);
    if (a.space == MemorySpace::constant)
      for (const auto& [s, none] : addresses) count.bank_passes += weight * (1 - none);
  }

  double bank_passes(const Access& a, const Lanes& q, const std::vector<std::int64_t>& address) const {
    const int wide = std::max(1, a.bytes / g_.bank_bytes);
    int part = std::max(1, std::min(g_.warp_size, g_.shared_banks) / wide);
    const auto all_share = [&](int distance) {
      for (int lane = 0; lane < g_.warp_size; ++lane) {
        const int partner = lane % (2 * distance) < distance ? lane + distance : lane - distance;
        if (q[lane] > 0 && q[partner] > 0 && address[lane] != address[partner]) return false;
      }
      return true;
    };
    if (g_.shared_pairs != 0 && a.kind == AccessKind::load && wide > 1 && (all_share(1) || all_share(2))) part *= 2;
    double passes = 0;
    for (int first = 0; first < g_.warp_size; first += part) {
      std::map<std::int64_t, std::set<std::pair<std::int64_t, int>>> words_of_bank;
      double none = 1;
      for (int lane = first; lane < std::min(first + part, g_.warp_size); ++lane) {
        if (q[lane] == 0) continue;
        none *= 1 - q[lane];
        for (int byte = 0; byte < a.bytes; ++byte) {
          const std::int64_t word = floor_of(address[lane] + byte, g_.bank_bytes);
          const std::int64_t bank = word - floor_of(word, g_.shared_banks) * g_.shared_banks;
          words_of_bank[bank].insert({word, a.kind == AccessKind::atomic ? lane : 0});
        }
      }
      std::size_t most = 0;
      for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
      passes += (1 - none) * static_cast<double>(most);
    }
    return passes;
  }

  // Lanes first .. first + n - 1 that may be active, with the probability that none is.
  std::pair<std::vector<int>, double> lanes_from(const Lanes& q, int first, int n) const {
    std::pair<std::vector<int>, double> out{{}, 1.0};
    for (int lane = first; lane < std::min(first + n, g_.warp_size); ++lane)
      if (q[lane] > 0) {
        out.first.push_back(lane);
        out.second *= 1 - q[lane];
      }
    return out;
  }
  // By piece of `size` bytes, the probability that no lane touches it.
  static std::map<std::int64_t, double> pieces_of(const Access& a, const std::vector<int>& lanes, const Lanes& q,
                                                  const std::vector<std::int64_t>& address, std::int64_t size) {
    std::map<std::int64_t, double> out;
    for (int lane : lanes) {
      std::set<std::int64_t> mine;
      for (int byte = 0; byte < a.bytes; ++byte) mine.insert(floor_of(address[lane] + byte, size));
      for (auto p : mine) out.emplace(p, 1.0).first->second *= 1 - q[lane];
    }
    return out;
  }
  static int most_in_one(const std::map<std::int64_t, double>& pieces, std::int64_t banks) {
    std::map<std::int64_t, int> n;
    int most = 0;
    for (const auto& [p, none] : pieces) most = std::max(most, ++n[p - floor_of(p, banks) * banks]);
    return most;
  }

  double l1_passes(const Access& a, const Lanes& q, const std::vector<std::int64_t>& address) const {
    const int part = a.bytes > 8 ? g_.warp_size / 4 : a.bytes > 4 ? g_.warp_size / 2 : g_.warp_size;
    double data = 0, tags = 0, expected = 0;
    for (int first = 0; first < g_.warp_size; first += part) {
      const auto [lanes, none] = lanes_from(q, first, part);
      data += (1 - none) * most_in_one(pieces_of(a, lanes, q, address, 4), g_.l1_banks);
    }
    const auto [all, none] = lanes_from(q, 0, g_.warp_size);
    const auto segments = pieces_of(a, all, q, address, g_.segment_bytes);
    for (const auto& [s, idle] : segments) expected += 1 - idle;
    if (g_.l1_tag_banks > 0)
      tags = (1 - none) * most_in_one(segments, g_.l1_tag_banks);
    else if (g_.l1_tags > 0)
      tags = (1 - none) + (expected - (1 - none)) / g_.l1_tags;
    else
      tags = expected;
    return std::max(data, tags);
  }

  double grouped_passes(const Access& a, const Lanes& q, const std::vector<std::int64_t>& address) const {
    struct Pass {
      std::int64_t begin;
      int groups;
      double none;
    };
    std::vector<Pass> together;
    double passes = 0;
    for (int first = 0; first < g_.warp_size; first += g_.l1_group) {
      const auto [lanes, none] = lanes_from(q, first, g_.l1_group);
      if (lanes.empty()) continue;
      const auto words = pieces_of(a, lanes, q, address, 4);
      bool same = true, rising = true;
      for (int lane : lanes) {
        const std::int64_t step = floor_of(address[lane], 4) - floor_of(address[lanes[0]], 4);
        same = same && step == 0;
        rising = rising && step == lane - lanes[0];
      }
      if (a.bytes == 4 ? same || rising : a.bytes < 4 && words.rbegin()->first - words.begin()->first <= 1) {
        const std::int64_t begin = address[lanes[0]];
        if (together.empty() || together.back().groups == g_.l1_group ||
            std::abs(begin - together.back().begin) >= g_.segment_bytes)
          together.push_back({begin, 0, 1.0});
        together.back().groups += 1;
        together.back().none *= none;
      } else if (a.bytes > 4) {
        const std::int64_t piece = a.bytes > 8 ? 16 : 8;
        passes += (1 - none) * most_in_one(pieces_of(a, lanes, q, address, piece),
                                           std::max<std::int64_t>(1, g_.segment_bytes / piece));
      } else {
        passes += (1 - none) * std::max(most_in_one(words, g_.l1_banks),
                                        pieces_of(a, lanes, q, address, g_.segment_bytes).size() > 1 ? 2 : 1);
      }
    }
    for (const Pass& p : together) passes += 1 - p.none;
    return passes;
  }

  void touch(const Access& a, std::int64_t at) {
    if (a.buffer < 0) return;
    if (a.kind != AccessKind::store) read_[a.buffer].insert(at);
    if (a.kind != AccessKind::load) written_[a.buffer].insert(at);
  }

  const KernelProfile& p_;
  const Launch& l_;
  const MemoryGeometry& g_;
  Counts out_;
  std::vector<std::size_t> first_access_;
  std::map<int, std::set<std::int64_t>> read_, written_, all_;

  std::array<std::int64_t, 3> group_{};
  std::size_t block_ = 0;
  std::vector<int> chain_, uniform_;
  std::vector<SymbolValues> values_;
  std::vector<std::int64_t> iteration_;
  std::size_t warp_ = 0;
  std::map<std::vector<std::int64_t>, double> most_;  // iteration -> largest execution probability among warps
};

}  // namespace

Counts count(const KernelProfile& profile, const Launch& launch, const MemoryGeometry& geometry) {
  return Machine(profile, launch, geometry).run();
}

}  // namespace kernelcast::twin
