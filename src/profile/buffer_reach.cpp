// Beyond a buffer: a witness. Threads at the corners of the launch, and the last one for which the guards hold, go
// through the first and the last iteration of each loop; where every guard on the way holds and the offset is known,
// the access happens. A guard or a trip count that data decide proves nothing, nor does a kernel with a loop of several
// exits.
//
// Touched: interval arithmetic over all threads and iterations, whatever the guards say. It may be more than what the
// kernel touches and is never less; one access whose address is not known makes it unknown.
#include "profile/buffer_reach.h"

#include <algorithm>
#include <array>
#include <set>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr int most_visits = 20'000;  // of accesses by witnesses

bool in_global_memory(const Access& a) {
  return a.space == MemorySpace::global || a.space == MemorySpace::texture || a.space == MemorySpace::constant;
}

/// Lines with accesses that data move as a whole.
std::set<SourceLine> moved_lines(const KernelProfile& profile) {
  std::set<std::string> keys;
  for (const Assumption& a : profile.assumptions) keys.insert(a.subject);
  std::set<SourceLine> lines;
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses)
      if (keys.contains(data_base_key(a.line))) lines.insert(a.line);
  return lines;
}

bool has_known_address(const Access& a, const std::set<SourceLine>& moved) {
  return a.unknown < 0 && !a.by_coordinates && a.buffer >= 0 && !moved.contains(a.line);
}

std::int64_t farthest(const Access& a) {
  return a.also.empty() ? 0 : std::max<std::int64_t>(0, *std::max_element(a.also.begin(), a.also.end()));
}

std::int64_t nearest(const Access& a) {
  return a.also.empty() ? 0 : std::min<std::int64_t>(0, *std::min_element(a.also.begin(), a.also.end()));
}

SymbolValues values_of(const Launch& launch) {
  SymbolValues values;
  std::map<Symbol, Expr> arguments;
  add_arguments(launch, arguments);
  for (const auto& [symbol, value] : arguments)
    if (const auto number = value.constant()) values[symbol] = *number;
  const auto grid = launch.grid.array(), block = launch.block.array();
  for (int axis = 0; axis < 3; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    values[local_size(axis)] = block[k];
    values[num_groups(axis)] = grid[k];
    values[local_id(axis)] = values[group_id(axis)] = 0;
  }
  values[dynamic_shared()] = launch.dynamic_shared_bytes;
  return values;
}

/// Whether a loop has more than one exit: it may end, or the kernel, before what its trip count says.
bool ends_early(const KernelProfile& profile) {
  std::vector<int> exits(profile.loops.size(), 0);
  for (const Branch& b : profile.branches) {
    const int loop = b.loop_exit && b.block >= 0 ? profile.blocks[static_cast<std::size_t>(b.block)].loop : -1;
    if (loop >= 0 && ++exits[static_cast<std::size_t>(loop)] > 1) return true;
  }
  return false;
}

/// Nothing: a symbol is not known, or the value is undefined.
std::optional<std::int64_t> value_of(const Expr& e, const SymbolValues& values) {
  for (const Symbol s : e.symbols())
    if (!values.contains(s)) return std::nullopt;
  try {
    return e.evaluate(values);
  } catch (const LimitError&) {  // leaves 64 bits, or is undefined
    return std::nullopt;
  }
}

bool holds(const Guard& guard, const SymbolValues& values) {
  return std::any_of(guard.paths.begin(), guard.paths.end(),
                     [&](const Path& p) { return p.factors.empty() && value_of(p.condition, values) == 1; });
}

class Witness {
 public:
  Witness(const KernelProfile& profile, const Launch& launch, const std::set<SourceLine>& moved)
      : profile_(profile),
        grid_(launch.grid.array()),
        block_(launch.block.array()),
        values_(values_of(launch)),
        moved_(moved),
        ends_early_(ends_early(profile)) {}

  /// The farthest access beyond `bytes` of a block's accesses to a buffer.
  std::optional<BufferReach::Beyond> find(int buffer, std::int64_t bytes) {
    found_.reset();
    if (ends_early_) return found_;
    buffer_ = buffer;
    bytes_ = bytes;
    visits_ = 0;
    for (const Block& b : profile_.blocks) {
      const bool concerned = std::any_of(b.accesses.begin(), b.accesses.end(), [&](const Access& a) {
        return a.buffer == buffer && in_global_memory(a) && has_known_address(a, moved_);
      });
      if (concerned && follow_loops(b)) visit_threads(b);
    }
    return found_;
  }

 private:
  /// The loops around the block, outermost first; false: how often one runs is not known.
  bool follow_loops(const Block& b) {
    loops_.clear();
    for (int l = b.loop; l >= 0; l = profile_.loops[static_cast<std::size_t>(l)].parent) {
      const Loop& loop = profile_.loops[static_cast<std::size_t>(l)];
      if (loop.unknown >= 0 || loop.wait != Loop::Wait::none) return false;
      loops_.push_back(&loop);
    }
    std::reverse(loops_.begin(), loops_.end());
    return true;
  }

  void visit_threads(const Block& b) {
    for (unsigned corner = 0; corner < 64; ++corner) {
      bool doubled = false;  // an axis of length 1 has one corner
      for (unsigned axis = 0; axis < 3; ++axis) {
        set(axis, (corner >> axis & 1U) != 0 ? grid_[axis] - 1 : 0,
            (corner >> (axis + 3) & 1U) != 0 ? block_[axis] - 1 : 0);
        doubled = doubled || ((corner >> axis & 1U) != 0 && grid_[axis] == 1) ||
                  ((corner >> (axis + 3) & 1U) != 0 && block_[axis] == 1);
      }
      if (doubled) continue;
      visit(b, 0);
      if ((corner & 1U) == 0 && (corner & 8U) == 0) visit_last_of_row(b);
    }
  }

  /// Along x, from a thread for which the guards hold: the last block and the last thread of it for which they do.
  void visit_last_of_row(const Block& b) {
    if (!runs(b)) return;
    const std::int64_t group = last(grid_[0], [&](std::int64_t n) { return set(0, n, 0), runs(b); });
    const std::int64_t lane = last(block_[0], [&](std::int64_t n) { return set(0, group, n), runs(b); });
    set(0, group, lane);
    visit(b, 0);
  }

  /// The largest number below `end` of those from 0 on for which `is` holds, if it holds up to somewhere.
  template <class Holds>
  static std::int64_t last(std::int64_t end, Holds is) {
    std::int64_t low = 0, high = end;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (is(middle) ? low : high) = middle;
    }
    return low;
  }

  void set(unsigned axis, std::int64_t group, std::int64_t lane) {
    values_[group_id(static_cast<int>(axis))] = group;
    values_[local_id(static_cast<int>(axis))] = lane;
  }

  /// Whether the first iterations come to the block.
  bool runs(const Block& b) {
    for (const Loop* loop : loops_) {
      const auto trips = holds(loop->guard, values_) ? value_of(loop->trips, values_) : std::nullopt;
      if (!trips || *trips < 1) return false;
      values_[loop->counter] = 0;
    }
    return holds(b.guard, values_);
  }

  void visit(const Block& b, std::size_t depth) {
    if (++visits_ > most_visits) return;
    if (depth == loops_.size()) {
      if (holds(b.guard, values_)) look_at(b);
      return;
    }
    const Loop& loop = *loops_[depth];
    const auto trips = holds(loop.guard, values_) ? value_of(loop.trips, values_) : std::nullopt;
    if (!trips || *trips < 1) return;
    for (const std::int64_t counter : {std::int64_t{0}, *trips - 1}) {
      values_[loop.counter] = counter;
      visit(b, depth + 1);
      if (*trips == 1) break;
    }
  }

  void look_at(const Block& b) {
    for (const Access& a : b.accesses) {
      if (a.buffer != buffer_ || !in_global_memory(a) || !has_known_address(a, moved_)) continue;
      const auto offset = value_of(a.offset, values_);
      if (!offset) continue;
      const std::int64_t at = *offset + farthest(a);
      if (at + a.bytes <= bytes_ || (found_ && found_->at >= at)) continue;
      const auto id = [&](Symbol (*of)(int)) { return Dim3{values_[of(0)], values_[of(1)], values_[of(2)]}; };
      found_ = {at, a.bytes, a.kind, a.line, id(group_id), id(local_id)};
    }
  }

  const KernelProfile& profile_;
  std::array<std::int64_t, 3> grid_, block_;
  SymbolValues values_;
  const std::set<SourceLine>& moved_;
  std::vector<const Loop*> loops_;
  std::optional<BufferReach::Beyond> found_;
  std::int64_t bytes_ = 0;
  int buffer_ = -1, visits_ = 0;
  bool ends_early_;
};

SymbolRanges ranges_of(const KernelProfile& profile, const Launch& launch) {
  SymbolRanges box;
  for (const auto& [symbol, value] : values_of(launch)) box[symbol] = {value, value};
  const auto grid = launch.grid.array(), block = launch.block.array();
  for (int axis = 0; axis < 3; ++axis) {
    box[local_id(axis)] = {0, block[static_cast<std::size_t>(axis)] - 1};
    box[group_id(axis)] = {0, grid[static_cast<std::size_t>(axis)] - 1};
  }
  for (const Loop& l : profile.loops) {  // parents before children
    const auto trips = l.unknown < 0 ? l.trips.range(box) : std::nullopt;
    if (trips) box[l.counter] = {0, std::max<std::int64_t>(trips->hi - 1, 0)};
  }
  return box;
}

/// A pointer that is not followed may lead anywhere.
bool accesses(const KernelProfile& profile, int buffer) {
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses)
      if (in_global_memory(a) && (a.buffer < 0 || a.buffer == buffer)) return true;
  return false;
}

/// Whether threads have elements of their own there; a value a block or less says nothing of how large it should be.
bool by_thread(const KernelProfile& profile, int buffer) {
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses)
      for (int axis = 0; axis < 3; ++axis)
        if (a.buffer == buffer && a.offset.depends_on(local_id(axis))) return true;
  return false;
}

/// The bytes outside which no access of the kernel touches the buffer.
std::optional<Interval> touched_bytes(const KernelProfile& profile, const SymbolRanges& box,
                                      const std::set<SourceLine>& moved, int buffer) {
  std::optional<Interval> all;
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses) {
      if (!in_global_memory(a) || (a.buffer >= 0 && a.buffer != buffer)) continue;
      const auto offset = has_known_address(a, moved) ? a.offset.range(box) : std::nullopt;
      if (!offset) return std::nullopt;
      const Interval here{offset->lo + nearest(a), offset->hi + farthest(a) + a.bytes - 1};
      all = all ? Interval{std::min(all->lo, here.lo), std::max(all->hi, here.hi)} : here;
    }
  return all;
}

}  // namespace

std::string data_base_key(SourceLine line) {
  return "base:" + std::to_string(line.file) + ":" + std::to_string(line.line);
}

std::vector<BufferReach> buffer_reaches(const KernelProfile& profile, const Launch& launch) {
  std::vector<BufferReach> all;
  const SymbolRanges box = ranges_of(profile, launch);
  const std::set<SourceLine> moved = moved_lines(profile);
  Witness witness(profile, launch, moved);
  for (std::size_t b = 0; b < profile.buffers.size(); ++b) {
    const Buffer& buffer = profile.buffers[b];
    const auto given = launch.buffers.find(buffer.name);
    if (buffer.parameter < 0 || given == launch.buffers.end() || buffer.space == MemorySpace::shared) continue;
    BufferReach reach;
    const int element = profile.parameters[static_cast<std::size_t>(buffer.parameter)].bytes;
    reach.buffer = static_cast<int>(b);
    if (element <= 0 || given->second.elements <= 0 ||
        __builtin_mul_overflow(given->second.elements, static_cast<std::int64_t>(element), &reach.bytes))
      continue;
    reach.accessed = accesses(profile, reach.buffer);
    reach.by_thread = by_thread(profile, reach.buffer);
    reach.touched = touched_bytes(profile, box, moved, reach.buffer);
    reach.beyond = witness.find(reach.buffer, reach.bytes);
    all.push_back(reach);
  }
  return all;
}

std::string beyond_text(const BufferReach& reach, const std::string& buffer) {
  const BufferReach::Beyond& b = *reach.beyond;
  const auto ids = [](const Dim3& d) {
    return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
  };
  const char* what = b.kind == AccessKind::load ? "loads" : b.kind == AccessKind::store ? "stores" : "updates";
  return "thread " + ids(b.thread) + " of block " + ids(b.block) + " " + what + " " + std::to_string(b.bytes) +
         (b.bytes == 1 ? " byte" : " bytes") + " at byte " + std::to_string(b.at) + " of " + buffer + ", which has " +
         std::to_string(reach.bytes);
}

std::optional<std::int64_t> mostly_untouched(const std::optional<Interval>& touched, std::int64_t bytes) {
  constexpr std::int64_t small = 64 << 10;  // scratch memory and tables are made larger than they need be
  if (!touched || bytes < small) return std::nullopt;
  const std::int64_t least = std::max<std::int64_t>(touched->lo, 0), most = std::min(touched->hi, bytes - 1);
  const std::int64_t n = std::max<std::int64_t>(most - least + 1, 0);
  return n < bytes / 2 ? std::optional(n) : std::nullopt;
}

std::string untouched_text(std::int64_t touched, const std::string& buffer, std::int64_t bytes) {
  return "at most " + std::to_string(touched) + " of the " + std::to_string(bytes) + " bytes of " + buffer +
         " are touched";
}

}  // namespace kernelcast
