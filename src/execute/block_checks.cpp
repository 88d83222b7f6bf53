// Trouble that no address shows: divisors of zero, shifts by the width or more, barriers that only some threads of a
// warp come to where threads are independent, unordered accesses to global memory.
#include <algorithm>
#include <bit>
#include <cstring>

#include "execute/block_runner.h"
#include "execute/for_lanes.h"
#include "execute/global_watch.h"
#include "kernelcast/address.h"

namespace kernelcast::interpreter {

void BlockRunner::check_operands(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const int size = size_of(i.type);
  for_lanes(lanes, [&](int l) {
    const std::uint64_t b = bits_at(w, op.b, size, l);
    if (op.check == OperandCheck::divisor) {
      if (b == 0) report(Finding::Kind::division_by_zero, i.line, "divides an integer by zero", number, l);
    } else if (b >= static_cast<std::uint64_t>(8 * size)) {
      if (Finding* f = count(Finding::Kind::wide_shift, i.line, number, l))
        f->text = "shifts " + std::to_string(8 * size) + " bits by " +
                  (b >> (8 * size - 1) == 1 ? "a negative number" : std::to_string(b));
    }
  });
}

/// A path that waits stands behind its barrier.
SourceLine BlockRunner::line_of_barrier(const Path& path) const {
  return program_.code[prepared_.code[path.resume - 1].source].line;
}

bool BlockRunner::reaches(int from, int to) const {
  std::vector<char> seen(program_.blocks.size(), 0);
  std::vector<int> open{from};
  while (!open.empty()) {
    const int here = open.back();
    open.pop_back();
    for (const Edge& e : program_.blocks[static_cast<std::size_t>(here)].edges) {
      if (e.target == to) return true;
      if (e.target < 0 || seen[static_cast<std::size_t>(e.target)] != 0) continue;
      seen[static_cast<std::size_t>(e.target)] = 1;
      open.push_back(e.target);
    }
  }
  return false;
}

/// Independent threads, all that are left of the warp wait. Those that wait elsewhere, and those that ended although
/// they ran code behind the barrier, did not come to it. (One that ends before is as good as there.)
void BlockRunner::check_barrier(Warp& w, int number) {
  const Path* most = nullptr;
  const auto waits = [&w](const Path& p) { return (p.lanes & w.waiting) != 0 && p.resume != 0; };
  for (const Path& p : w.paths)
    if (waits(p) && (most == nullptr || lane_count(p.lanes) > lane_count(most->lanes))) most = &p;
  if (most == nullptr) return;
  const int first = std::countr_zero(most->lanes);
  for (const Path& p : w.paths)
    if (waits(p) && p.resume != most->resume)
      report(Finding::Kind::divergent_barrier, line_of_barrier(p), "threads of a warp wait at different barriers",
             number, std::countr_zero(p.lanes), number * width_ + first);
  const std::uint64_t left = w.exited & ~w.exited_before;
  if (left == 0) return;
  std::uint64_t ran_on = 0;
  int guard = static_cast<int>(program_.blocks.size());
  for (int b = program_.blocks[static_cast<std::size_t>(most->block)].reconvergence; b >= 0 && guard-- > 0;
       b = program_.blocks[static_cast<std::size_t>(b)].reconvergence) {
    const ProgramBlock& behind = program_.blocks[static_cast<std::size_t>(b)];
    if (behind.past > behind.first) ran_on |= w.passed[static_cast<std::size_t>(b)];
  }
  std::uint64_t missing = 0;
  for_lanes(ran_on & left, [&](int l) {
    const int began = w.began[static_cast<std::size_t>(l)];
    if (began < 0 || !(began == most->block || reaches(most->block, began))) missing |= std::uint64_t{1} << l;
  });
  if (missing != 0)
    report(Finding::Kind::divergent_barrier, line_of_barrier(*most),
           "a barrier is reached by only some threads of a warp", number, first,
           number * width_ + std::countr_zero(missing));
}

/// A new phase begins: what check_barrier() knows of the last one is forgotten.
void BlockRunner::begin_phase(Warp& w) {
  std::fill(w.passed.begin(), w.passed.end(), 0);
  w.exited_before = w.exited;
  for (const Path& p : w.paths)
    for_lanes(p.lanes, [&](int l) { w.began[static_cast<std::size_t>(l)] = p.resume != 0 ? p.block : -1; });
}

WatchedThread BlockRunner::watched(int number, int lane) const {
  WatchedThread t;
  t.block = static_cast<std::uint32_t>(block_);
  t.thread = static_cast<std::uint32_t>(number * width_ + lane);
  // A phase of an mbarrier that was completed since may order the two.
  t.phase = static_cast<std::uint32_t>(counts_.barriers) + static_cast<std::uint32_t>(mbarriers_.phases());
  t.order = warp_[static_cast<std::size_t>(number)].order;
  t.warp_size = width_;
  t.looked_at_a_flag = looked_at_a_flag_;
  return t;
}

/// Of a lane's access that is inside of a buffer, before memory changes.
void BlockRunner::check_global(const SimtInstruction& i, int number, int lane, int bytes, int kind, bool changes) {
  const std::uint64_t address = address_[lane];
  const std::uint64_t window = window_of(address);
  const int buffer = static_cast<int>(window) - 1;
  if (window == 0 || buffer >= plan_.memory->size() || !plan_.memory->watched(buffer)) return;
  const std::int64_t offset = offset_of(address);
  const int shift = plan_.memory->watch_shift();
  const WatchedThread me = watched(number, lane);
  GlobalConflict worst;
  for (std::int64_t u = offset >> shift; u <= (offset + bytes - 1) >> shift; ++u) {
    std::atomic<std::uint64_t>& word = plan_.memory->watch_word(buffer, u);
    GlobalUnit unit(word.load(std::memory_order_relaxed));
    if (const GlobalConflict c = unit.note(static_cast<GlobalAccess>(kind), me, changes); c.found) worst = c;
    word.store(unit.bits(), std::memory_order_relaxed);
  }
  if (!worst.found) return;
  Finding* f = count(Finding::Kind::race, i.line, number, lane, static_cast<int>(worst.thread));
  if (f == nullptr) return;
  const char* what = kind == 0 ? "reads" : kind == 1 ? "writes" : "updates";
  f->text = std::string(what) + " byte " + std::to_string(offset) + " of '" + plan_.memory->buffer(buffer).name +
            "', which another thread " + (worst.other_block ? "of another block " : "") +
            (kind == 0 ? "writes or updates" : "reads, writes or updates") + " with nothing between that orders them";
  if (!worst.other_block) return;
  const Dim3& grid = plan_.launch.grid;
  const auto n = static_cast<std::int64_t>(worst.block);
  f->other_block = {n % grid.x, n / grid.x % grid.y, n / (grid.x * grid.y)};
  f->between_blocks = true;
}

}  // namespace kernelcast::interpreter
