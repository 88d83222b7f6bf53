// One step of a warp: a basic block for the lanes of one path, and where they go on.
#include "execute/block_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "execute/for_lanes.h"

namespace kernelcast::interpreter {
namespace {

template <class T>
void copy_lanes(unsigned char* file, const PreparedCopy& c, std::uint64_t lanes, int width) {
  T* d = reinterpret_cast<T*>(file + c.dst);
  const T* s = reinterpret_cast<const T*>(file + c.src);
  if (lanes == first_lanes(width)) {
    std::memcpy(d, s, sizeof(T) * static_cast<std::size_t>(width));
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    const int l = std::countr_zero(lanes);
    d[l] = s[l];
  }
}

struct Wide16 {
  std::uint64_t low, high;
};

void copy_row(unsigned char* file, const PreparedCopy& c, std::uint64_t lanes, int width) {
  switch (c.size) {
    case 1:
      return copy_lanes<std::uint8_t>(file, c, lanes, width);
    case 2:
      return copy_lanes<std::uint16_t>(file, c, lanes, width);
    case 4:
      return copy_lanes<std::uint32_t>(file, c, lanes, width);
    case 8:
      return copy_lanes<std::uint64_t>(file, c, lanes, width);
    default:
      return copy_lanes<Wide16>(file, c, lanes, width);
  }
}

}  // namespace

std::uint64_t BlockRunner::ballot(const Warp& w, std::uint32_t condition, std::uint64_t lanes) const {
  const unsigned char* bits = w.file + prepared_.place[condition];
  std::uint64_t mask = 0;
  for (int l = 0; l < width_; l += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bits + l, 8);
    // Bytes of 0 or 1 to eight bits: the product gathers them in the top byte.
    mask |= ((eight * 0x0102040810204080ULL) >> 56) << l;
  }
  return mask & lanes;
}

void BlockRunner::choose(const Warp& w, const ProgramBlock& b, std::uint64_t lanes,
                         std::vector<std::uint64_t>& taken) const {
  taken.assign(b.edges.size(), 0);
  if (b.end == ProgramBlock::End::jump) {
    taken[0] = lanes;
  } else if (b.end == ProgramBlock::End::branch) {
    taken[0] = ballot(w, b.condition, lanes);
    taken[1] = lanes & ~taken[0];
  } else if (b.end == ProgramBlock::End::switch_) {
    const int size = size_of(b.condition_type);
    for (std::uint64_t m = lanes; m != 0; m &= m - 1) {
      const int l = std::countr_zero(m);
      const auto v = static_cast<std::int64_t>(bits_at(w, prepared_.place[b.condition], size, l));
      const auto hit = std::find(b.cases.begin(), b.cases.end(), v);
      taken[hit == b.cases.end() ? 0 : static_cast<std::size_t>(hit - b.cases.begin()) + 1] |= std::uint64_t{1} << l;
    }
  }
}

void BlockRunner::follow(Warp& w, int block, std::size_t edge, std::uint64_t lanes) {
  for (const PreparedCopy& c : prepared_.copies[static_cast<std::size_t>(block)][edge])
    copy_row(w.file, c, lanes, width_);
}

/// What the accesses of a last test cost belongs to the copy of the block that counts it.
void BlockRunner::count_last_test(const ProgramBlock& b, bool stays, double gone) {
  for (std::uint32_t k = b.first; k < b.past; ++k) {
    const SimtInstruction& i = program_.code[k];
    if (i.site < 0) continue;
    for (const AccessSite::Piece& p : program_.sites[static_cast<std::size_t>(i.site)].pieces) {
      if (p.last < 0) continue;
      AccessCount& mine = counts_.accesses[static_cast<std::size_t>(p.access)];
      AccessCount& other = counts_.accesses[static_cast<std::size_t>(p.last)];
      const auto before =
          std::find_if(before_.begin(), before_.end(), [&](const auto& x) { return x.first == p.access; });
      if (before == before_.end()) continue;
      if (!stays) {
        AccessCount moved = mine;
        moved.requests -= before->second.requests;
        moved.lanes -= before->second.lanes;
        moved.sectors -= before->second.sectors;
        moved.segments -= before->second.segments;
        moved.bank_passes -= before->second.bank_passes;
        moved.bytes -= before->second.bytes;
        moved.words -= before->second.words;
        other += moved;
        mine = before->second;
      } else if (gone > 0) {
        mine.lanes -= gone;
        mine.bytes -= gone * p.bytes;
        mine.words -= gone * words_of(p.bytes);
        other.lanes += gone;
        other.bytes += gone * p.bytes;
        other.words += gone * words_of(p.bytes);
      }
    }
  }
}

/// Counts the block under its headings, once it is known where the lanes go on.
void BlockRunner::finish_block(Warp& w, const ProgramBlock& b, std::uint64_t lanes,
                               const std::vector<std::uint64_t>& taken) {
  const double n = lane_count(lanes);
  const double size = b.past - b.first + 1.0;
  w.instructions += size;
  counts_.warp_instructions += size;
  counts_.lane_instructions += size * n;
  if (b.profile_block < 0) return;
  std::uint64_t leaving = 0;
  int ways = 0;
  for (std::size_t e = 0; e < taken.size(); ++e) {
    if (taken[e] == 0) continue;
    if (b.last_block >= 0 && b.edges[e].leaves_loop) leaving |= taken[e];
  }
  // Ways are counted by target: two cases of a switch that go to one place do not diverge.
  int targets[2] = {-1, -1};
  for (std::size_t e = 0; e < taken.size(); ++e)
    if (taken[e] != 0 && b.edges[e].target != targets[0] && ways < 2) targets[ways++] = b.edges[e].target;
  const bool stays = (lanes & ~leaving) != 0;
  const double gone = lane_count(leaving);
  BlockCount& here = counts_.blocks[static_cast<std::size_t>(b.profile_block)];
  if (b.last_block < 0 || stays) here.warps += 1;
  here.lanes += n - gone;
  if (b.last_block >= 0) {
    BlockCount& last = counts_.blocks[static_cast<std::size_t>(b.last_block)];
    if (!stays) last.warps += 1;
    last.lanes += gone;
    count_last_test(b, stays, gone);
  }
  if (b.branch >= 0) {
    BranchCount& branch = counts_.branches[static_cast<std::size_t>(b.branch)];
    branch.warps += 1;
    if (ways > 1) branch.divergent += 1;
  }
}

void BlockRunner::note_last(Warp& w, std::uint64_t lanes, PreparedProgram::Last last) {
  if (last == PreparedProgram::Last::none) return;
  const bool store = last == PreparedProgram::Last::store;
  w.stored = store ? w.stored | lanes : w.stored & ~lanes;
  w.computed = store ? w.computed & ~lanes : w.computed | lanes;
}

bool BlockRunner::run_code(Warp& w, Path& path, const ProgramBlock& b, int number) {
  std::uint32_t k = path.resume != 0 ? path.resume : b.first;
  const bool all = path.lanes == first_lanes(width_);
  if (k < b.past) note_last(w, path.lanes, prepared_.last[k]);
  const bool keep_all = plan_.options.independent_threads;
  for (; k < b.past; ++k) {
    const PreparedOp& op = prepared_.code[k];
    if (op.handler != nullptr) {
      if (op.check != OperandCheck::none && plan_.options.check_shared) check_operands(w, path.lanes, op, number);
      if (all || !(op.keep_inactive || keep_all)) {
        op.handler(w.file, op);
      } else {
        PreparedOp to_scratch = op;
        to_scratch.dst = prepared_.file_bytes;
        to_scratch.handler(w.file, to_scratch);
        copy_row(w.file, {op.dst, to_scratch.dst, op.dst_size}, path.lanes, width_);
      }
      continue;
    }
    const Opcode what = program_.code[op.source].op;
    if (what == Opcode::barrier) {
      path.resume = k + 1;
      met_ = false;
      special(w, path.lanes, op, number);
      return false;
    }
    if (what == Opcode::mbarrier) {
      if (mbarrier(w, path.lanes, op, number)) continue;
      path.resume = k;  // once more
      path.stands = true;
      w.before = before_;
      return false;
    }
    special(w, path.lanes, op, number);
  }
  path.resume = 0;
  return true;
}

void BlockRunner::step(int number) {
  Warp& w = warp_[static_cast<std::size_t>(number)];
  while (!w.paths.empty()) {
    Path& top = w.paths.back();
    top.lanes &= ~w.exited;
    if (top.lanes != 0 && top.block >= 0 && (top.block != top.reconvergence || top.resume != 0)) break;
    w.paths.pop_back();
  }
  if (w.paths.empty()) {
    w.state = State::done;
    return;
  }
  check_limits();
  Path& path = w.paths.back();
  const int here = path.block;
  const ProgramBlock& b = program_.blocks[static_cast<std::size_t>(here)];
  if (path.stands) {
    path.stands = false;
    before_ = w.before;
  } else if (b.last_block >= 0 && path.resume == 0) {
    before_.clear();
    for (std::uint32_t k = b.first; k < b.past; ++k)
      if (const SimtInstruction& i = program_.code[k]; i.site >= 0)
        for (const AccessSite::Piece& p : program_.sites[static_cast<std::size_t>(i.site)].pieces)
          before_.emplace_back(p.access, counts_.accesses[static_cast<std::size_t>(p.access)]);
  }
  if (!run_code(w, path, b, number)) {
    if (path.stands) w.state = State::at_mbarrier;
    return;
  }
  const std::uint64_t lanes = path.lanes;
  choose(w, b, lanes, taken_);
  finish_block(w, b, lanes, taken_);
  if (b.end == ProgramBlock::End::exit) {
    w.exited |= lanes;
    return;
  }
  int ways = 0, only = -1;
  for (std::size_t e = 0; e < taken_.size(); ++e)
    if (taken_[e] != 0) {
      ++ways;
      only = static_cast<int>(e);
    }
  if (ways == 1) {
    follow(w, here, static_cast<std::size_t>(only), lanes);
    path.block = b.edges[static_cast<std::size_t>(only)].target;
    return;
  }
  const int meet = b.reconvergence;
  if (meet == path.reconvergence)
    w.paths.pop_back();  // the entry below waits there
  else
    path.block = meet;
  for (std::size_t e = taken_.size(); e-- > 0;) {
    if (taken_[e] == 0) continue;
    follow(w, here, e, taken_[e]);
    const int target = b.edges[e].target;
    // Edges to one place go together.
    if (!w.paths.empty() && w.paths.back().block == target && w.paths.back().reconvergence == meet && target != meet)
      w.paths.back().lanes |= taken_[e];
    else if (target != meet)
      w.paths.push_back({target, meet, taken_[e]});
  }
  return;
}

/// Diverged paths take turns: the one that is furthest behind runs, which lets paths meet; after a while another one.
void BlockRunner::step_independent(int number) {
  Warp& w = warp_[static_cast<std::size_t>(number)];
  std::vector<Path>& all = w.paths;
  for (std::size_t k = 0; k < all.size();) {
    all[k].lanes &= ~w.exited;
    if (all[k].lanes == 0 || all[k].block < 0)
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
    else
      ++k;
  }
  std::sort(all.begin(), all.end(),
            [](const Path& a, const Path& b) { return std::pair(a.block, a.resume) < std::pair(b.block, b.resume); });
  for (std::size_t k = 1; k < all.size();)  // paths that stand at one place go on together
    if (all[k].block == all[k - 1].block && all[k].resume == all[k - 1].resume &&
        ((all[k].lanes | all[k - 1].lanes) & w.waiting) == 0) {
      all[k - 1].lanes |= all[k].lanes;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      ++k;
    }
  if (all.empty()) {
    w.state = State::done;
    return;
  }
  std::vector<std::size_t> ready;
  bool stands = false;
  const bool try_again = w.gives_up || w.seen_changes != mbarriers_.changes();
  for (std::size_t k = 0; k < all.size(); ++k) {
    if ((all[k].lanes & w.waiting) != 0) continue;
    all[k].stands = all[k].stands && !try_again;
    stands = stands || all[k].stands;
    if (!all[k].stands) ready.push_back(k);
  }
  if (ready.empty()) {
    w.state = stands ? State::at_mbarrier : State::at_barrier;
    return;
  }
  check_limits();
  const std::size_t slice = static_cast<std::size_t>(w.instructions / 1000);
  const std::size_t chosen = slice % 8 == 7 ? ready[slice / 8 % ready.size()] : ready.front();
  Path path = all[chosen];
  const ProgramBlock& b = program_.blocks[static_cast<std::size_t>(path.block)];
  before_.clear();
  w.passed[static_cast<std::size_t>(path.block)] |= path.lanes;
  const std::uint64_t changes = mbarriers_.changes();
  const bool ran = run_code(w, path, b, number);
  if (mbarriers_.changes() != changes)
    for (Path& p : all) p.stands = false;
  if (!ran) {
    if (!path.stands && !met_) w.waiting |= path.lanes;
    w.state = State::ready;
    all[chosen] = path;
    return;
  }
  choose(w, b, path.lanes, taken_);
  finish_block(w, b, path.lanes, taken_);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(chosen));
  if (b.end == ProgramBlock::End::exit) {
    w.exited |= path.lanes;
    return;
  }
  for (std::size_t e = 0; e < taken_.size(); ++e)
    if (taken_[e] != 0) {
      follow(w, path.block, e, taken_[e]);
      all.push_back({b.edges[e].target, -1, taken_[e]});
    }
}

}  // namespace kernelcast::interpreter
