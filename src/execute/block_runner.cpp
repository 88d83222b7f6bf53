#include "execute/block_runner.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "execute/for_lanes.h"
#include "execute/half.h"
#include "kernelcast/address.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::uint32_t scratch_bytes = 16 * 64;  // behind the file: one row, for results of lanes that are off
constexpr double quantum = 20000;  // warp instructions before another warp, or another path, gets its turn

std::uint64_t first_lanes(int n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

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

void BlockCounts::clear() {
  std::fill(blocks.begin(), blocks.end(), BlockCount{});
  std::fill(accesses.begin(), accesses.end(), AccessCount{});
  std::fill(branches.begin(), branches.end(), BranchCount{});
  barriers = phase_longest = phase_mean = warp_instructions = lane_instructions = 0;
}

void BlockCounts::add(const BlockCounts& o, double times, double over) {
  // Multiplied first: whole numbers stay whole where they can.
  const auto scaled = [&](double v) { return v * times / over; };
  blocks.resize(o.blocks.size());
  accesses.resize(o.accesses.size());
  branches.resize(o.branches.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    blocks[k].warps += scaled(o.blocks[k].warps);
    blocks[k].lanes += scaled(o.blocks[k].lanes);
  }
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    AccessCount& a = accesses[k];
    const AccessCount& b = o.accesses[k];
    a.requests += scaled(b.requests);
    a.lanes += scaled(b.lanes);
    a.sectors += scaled(b.sectors);
    a.segments += scaled(b.segments);
    a.bank_passes += scaled(b.bank_passes);
    a.bytes += scaled(b.bytes);
  }
  for (std::size_t k = 0; k < branches.size(); ++k) {
    branches[k].warps += scaled(o.branches[k].warps);
    branches[k].divergent += scaled(o.branches[k].divergent);
  }
  barriers += scaled(o.barriers);
  phase_longest += scaled(o.phase_longest);
  phase_mean += scaled(o.phase_mean);
  warp_instructions += scaled(o.warp_instructions);
  lane_instructions += scaled(o.lane_instructions);
}

BlockRunner::BlockRunner(const LaunchPlan& plan)
    : plan_(plan),
      prepared_(*plan.program),
      program_(plan.program->program),
      threads_(static_cast<int>(plan.launch.block.count())),
      warps_((threads_ + plan.geometry.warp_size - 1) / plan.geometry.warp_size),
      width_(plan.geometry.warp_size),
      rows_((width_ + lanes_at_once - 1) / lanes_at_once),
      requests_(plan.geometry),
      shared_(plan.shared_bytes, plan.watch_unit, plan.options.check_shared, plan.options.independent_threads),
      stack_bytes_(program_.stack_bytes) {
  counts_.blocks.resize(plan.profile->blocks.size());
  counts_.accesses.resize(static_cast<std::size_t>(plan.total_accesses));
  counts_.branches.resize(plan.profile->branches.size());
  stacks_.resize(static_cast<std::size_t>(stack_bytes_ * threads_));
  warp_.resize(static_cast<std::size_t>(warps_));
  for (Warp& w : warp_) {
    w.storage = std::make_unique<unsigned char[]>(prepared_.file_bytes + scratch_bytes + 64);
    const auto at = reinterpret_cast<std::uintptr_t>(w.storage.get());
    w.file = w.storage.get() + ((at + 63) / 64 * 64 - at);
    fill_local_ids(w, static_cast<int>(&w - warp_.data()));
    for (const ProgramInput& in : program_.inputs) {
      std::uint64_t value = in.low;
      const std::uint32_t place = prepared_.place[in.reg];
      const int size = size_of(in.type);
      switch (in.kind) {
        case ProgramInput::Kind::constant:
          break;
        case ProgramInput::Kind::local_size:
          value = static_cast<std::uint64_t>(plan.launch.block.array()[in.low]);
          break;
        case ProgramInput::Kind::num_groups:
          value = static_cast<std::uint64_t>(plan.launch.grid.array()[in.low]);
          break;
        case ProgramInput::Kind::global_size:
          value = static_cast<std::uint64_t>(plan.launch.grid.array()[in.low] * plan.launch.block.array()[in.low]);
          break;
        case ProgramInput::Kind::buffer: {
          const auto b = static_cast<std::size_t>(in.low);
          value = plan.shared_place[b] >= 0 ? static_cast<std::uint64_t>(plan.shared_place[b])
                                            : global_address(static_cast<int>(b), static_cast<std::int64_t>(in.high));
          break;
        }
        case ProgramInput::Kind::parameter_block:
          value = (parameter_window << window_bits) + in.low;
          break;
        case ProgramInput::Kind::stack:
          value = (private_window << window_bits) + in.low;
          break;
        case ProgramInput::Kind::scalar: {
          const auto found = plan.scalars.find(in.name);
          if (found == plan.scalars.end()) break;
          if (is_float(in.type)) {
            const double v = std::holds_alternative<double>(found->second)
                                 ? std::get<double>(found->second)
                                 : static_cast<double>(std::get<std::int64_t>(found->second));
            value = in.type == ValueType::f64   ? std::bit_cast<std::uint64_t>(v)
                    : in.type == ValueType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(v))
                                                : Half(v).bits;
          } else {
            value = static_cast<std::uint64_t>(std::holds_alternative<double>(found->second)
                                                   ? static_cast<std::int64_t>(std::get<double>(found->second))
                                                   : std::get<std::int64_t>(found->second));
            if (in.type == ValueType::i1) value = value != 0 ? 1 : 0;
          }
          break;
        }
        default:
          continue;
      }
      for (int l = 0; l < rows_ * lanes_at_once; ++l) {
        set_bits(w, place, std::min(size, 8), size == 16 ? 2 * l : l, value);
        if (size == 16) set_bits(w, place, 8, 2 * l + 1, in.high);
      }
    }
  }
}

std::uint64_t BlockRunner::bits_at(const Warp& w, std::uint32_t at, int size, int lane) {
  std::uint64_t v = 0;
  std::memcpy(&v, w.file + at + static_cast<std::ptrdiff_t>(size) * lane, static_cast<std::size_t>(std::min(size, 8)));
  return v;
}

void BlockRunner::set_bits(Warp& w, std::uint32_t at, int size, int lane, std::uint64_t value) {
  std::memcpy(w.file + at + static_cast<std::ptrdiff_t>(size) * lane, &value, static_cast<std::size_t>(size));
}

Dim3 BlockRunner::thread_of(int linear) const {
  const Dim3& b = plan_.launch.block;
  return {linear % b.x, linear / b.x % b.y, linear / (b.x * b.y)};
}

void BlockRunner::begin(std::int64_t index) {
  const Dim3& grid = plan_.launch.grid;
  group_ = {index % grid.x, index / grid.x % grid.y, index / (grid.x * grid.y)};
  counts_.clear();
  shared_.begin_block();
  std::fill(stacks_.begin(), stacks_.end(), 0);
  barrier_count_ = barrier_lanes_ = 0;
  barrier_value_ = {};
  for (int n = 0; n < warps_; ++n) {
    Warp& w = warp_[static_cast<std::size_t>(n)];
    w.members = first_lanes(std::min(width_, threads_ - n * width_));
    w.exited = w.waiting = 0;
    w.state = State::ready;
    w.instructions = w.phase_start = 0;
    w.turn = 0;
    w.paths.assign(1, {0, -1, w.members});
    fill_group_ids(w);
  }
}

void BlockRunner::fill_local_ids(Warp& w, int number) {
  for (const ProgramInput& in : program_.inputs)
    if (in.kind == ProgramInput::Kind::local_id)
      for (int l = 0; l < width_; ++l)
        set_bits(w, prepared_.place[in.reg], size_of(in.type), l,
                 static_cast<std::uint64_t>(thread_of(number * width_ + l).array()[in.low]));
}

void BlockRunner::fill_group_ids(Warp& w) {
  for (const ProgramInput& in : program_.inputs)
    if (in.kind == ProgramInput::Kind::group_id) {
      const auto id = static_cast<std::uint64_t>(group_.array()[in.low]);
      const std::uint32_t place = prepared_.place[in.reg];
      const int size = size_of(in.type);
      if (size == 4)
        std::fill_n(row<std::uint32_t>(w, place), width_, static_cast<std::uint32_t>(id));
      else
        for (int l = 0; l < width_; ++l) set_bits(w, place, size, l, id);
    }
}

void BlockRunner::run(std::int64_t index) {
  begin(index);
  const auto has = [this](State wanted) {
    return std::any_of(warp_.begin(), warp_.end(), [&](const Warp& w) { return w.state == wanted; });
  };
  for (;;) {
    for (int n = 0; n < warps_; ++n) {
      Warp& w = warp_[static_cast<std::size_t>(n)];
      const double until = w.instructions + quantum;
      running_ = n;
      while (w.state == State::ready && w.instructions < until)
        plan_.options.independent_threads ? step_independent(n) : step(n);
    }
    if (has(State::ready)) continue;
    if (!has(State::at_barrier)) break;
    release_barrier();
  }
  release_barrier();  // the phase after the last barrier
}

/// All warps that are left wait, or are done: the phase ends.
void BlockRunner::release_barrier() {
  double longest = 0, sum = 0;
  bool waiting = false;
  for (Warp& w : warp_) {
    const double spent = w.instructions - w.phase_start;
    longest = std::max(longest, spent);
    sum += spent;
    w.phase_start = w.instructions;
    waiting = waiting || w.state == State::at_barrier;
  }
  counts_.phase_longest += longest;
  counts_.phase_mean += sum / warps_;
  if (!waiting) return;
  if (recorder != nullptr) recorder->barrier();
  counts_.barriers += 1;
  if (barrier_value_.op != nullptr) {
    const double value = barrier_value_.what == BarrierOp::count ? barrier_count_
                         : barrier_value_.what == BarrierOp::all ? (barrier_count_ == barrier_lanes_ ? 1 : 0)
                                                                 : (barrier_count_ > 0 ? 1 : 0);
    for (Warp& w : warp_)
      if (w.state == State::at_barrier)
        for (int l = 0; l < width_; ++l) set_bits(w, barrier_value_.op->dst, 4, l, static_cast<std::uint64_t>(value));
  }
  barrier_value_ = {};
  barrier_count_ = barrier_lanes_ = 0;
  shared_.barrier();
  for (Warp& w : warp_)
    if (w.state == State::at_barrier) {
      w.state = State::ready;
      w.waiting = 0;
    }
}

void BlockRunner::check_limits() {
  if (instruction_limit > 0 && counts_.warp_instructions > instruction_limit)
    throw LimitReached{"a block ran more warp instructions than --max-instructions allows"};
  if ((++steps_ & 1023U) != 0) return;
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (deadline > 0 && now > deadline) throw LimitReached{"the time of --max-seconds is over"};
}

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
    // What the accesses of a last test cost belongs to the copy of the block that counts it.
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
          other += moved;
          mine = before->second;
        } else if (gone > 0) {
          mine.lanes -= gone;
          mine.bytes -= gone * p.bytes;
          other.lanes += gone;
          other.bytes += gone * p.bytes;
        }
      }
    }
  }
  if (b.branch >= 0) {
    BranchCount& branch = counts_.branches[static_cast<std::size_t>(b.branch)];
    branch.warps += 1;
    if (ways > 1) branch.divergent += 1;
  }
}

bool BlockRunner::run_code(Warp& w, Path& path, const ProgramBlock& b, int number) {
  std::uint32_t k = path.resume != 0 ? path.resume : b.first;
  const bool all = path.lanes == first_lanes(width_);
  const bool keep_all = plan_.options.independent_threads;
  for (; k < b.past; ++k) {
    const PreparedOp& op = prepared_.code[k];
    if (op.handler != nullptr) {
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
    if (program_.code[op.source].op == Opcode::barrier) {
      path.resume = k + 1;
      special(w, path.lanes, op, number);
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
  if (b.last_block >= 0 && path.resume == 0) {
    before_.clear();
    for (std::uint32_t k = b.first; k < b.past; ++k)
      if (const SimtInstruction& i = program_.code[k]; i.site >= 0)
        for (const AccessSite::Piece& p : program_.sites[static_cast<std::size_t>(i.site)].pieces)
          before_.emplace_back(p.access, counts_.accesses[static_cast<std::size_t>(p.access)]);
  }
  if (!run_code(w, path, b, number)) return;
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
  for (std::size_t k = 0; k < all.size(); ++k)
    if ((all[k].lanes & w.waiting) == 0) ready.push_back(k);
  if (ready.empty()) {
    w.state = State::at_barrier;
    return;
  }
  check_limits();
  const std::size_t slice = static_cast<std::size_t>(w.instructions / 1000);
  const std::size_t chosen = slice % 8 == 7 ? ready[slice / 8 % ready.size()] : ready.front();
  Path path = all[chosen];
  const ProgramBlock& b = program_.blocks[static_cast<std::size_t>(path.block)];
  before_.clear();
  if (!run_code(w, path, b, number)) {
    w.waiting |= path.lanes;
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

void BlockRunner::special(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  switch (i.op) {
    case Opcode::load:
      return load(w, lanes, op, number);
    case Opcode::store:
      return store(w, lanes, op, number);
    case Opcode::atomic:
      return atomic(w, lanes, op, number);
    case Opcode::barrier:
      if (i.dst != no_register) {
        barrier_value_ = {&op, static_cast<BarrierOp>(i.imm)};
        barrier_count_ += lane_count(ballot(w, i.a, lanes));
        barrier_lanes_ += lane_count(lanes);
      }
      if (!plan_.options.independent_threads) {
        if (const std::uint64_t missing = w.members & ~w.exited & ~lanes; missing != 0)
          report(Finding::Kind::divergent_barrier, i.line, "a barrier is reached by only some threads of a warp",
                 number, std::countr_zero(lanes), number * width_ + std::countr_zero(missing));
        w.state = State::at_barrier;
      }
      return;
    case Opcode::warp_barrier:
      return shared_.warp_barrier();
    case Opcode::vote:
      return vote(w, lanes, op);
    case Opcode::shuffle:
      return shuffle(w, lanes, op);
    case Opcode::permute_lanes:
      return permute(w, lanes, op);
    case Opcode::reduce:
      return reduce(w, lanes, op);
    case Opcode::lane_id:
    case Opcode::active_mask:
    case Opcode::clock:
      for (std::uint64_t m = lanes; m != 0; m &= m - 1) {
        const int l = std::countr_zero(m);
        const std::uint64_t v = i.op == Opcode::lane_id       ? static_cast<std::uint64_t>(l)
                                : i.op == Opcode::active_mask ? lanes
                                                              : static_cast<std::uint64_t>(w.instructions);
        set_bits(w, op.dst, op.dst_size, l, v);
      }
      return;
    case Opcode::finding:
      for (std::uint64_t m = lanes; m != 0; m &= m - 1)
        report(Finding::Kind::assertion, i.line, program_.texts[static_cast<std::size_t>(i.imm)], number,
               std::countr_zero(m));
      return;
    default:
      return;
  }
}

void BlockRunner::report(Finding::Kind kind, SourceLine line, const std::string& text, int number, int lane,
                         int other) {
  Finding& f = findings_[{static_cast<int>(kind), {line.file, line.line}}];
  if (f.count == 0) {
    f.kind = kind;
    f.line = line;
    f.text = text;
    f.block = group_;
    f.thread = thread_of(number * width_ + lane);
    f.other_thread = thread_of(std::max(other, 0));
  }
  f.count += 1;
}

std::vector<Finding> BlockRunner::take_findings() {
  std::vector<Finding> all;
  for (auto& [key, f] : findings_) all.push_back(std::move(f));
  findings_.clear();
  return all;
}

}  // namespace kernelcast::interpreter
