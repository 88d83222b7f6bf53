#include "execute/block_runner.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "execute/fill_value.h"
#include "execute/for_lanes.h"
#include "io/interrupt.h"

namespace kernelcast::interpreter {
namespace {

constexpr double quantum = 20000;  // warp instructions before another warp, or another path, gets its turn

}  // namespace

void BlockRunner::run(std::int64_t index) {
  begin(index);
  warps_run_ = warps_;
  if (plan_.warps_apart && (most_warps > 0 || enough > 0 || most_instructions > 0))
    run_apart(index);
  else
    run_together();
  release_barrier();  // the phase after the last barrier
}

void BlockRunner::run_apart(std::int64_t index) {
  std::vector<int> order(warp_.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::uint64_t bits = random_bits(mix_bits(plan_.options.seed) + static_cast<std::uint64_t>(index), left);
    std::swap(order[left - 1], order[static_cast<std::size_t>(below(bits, left))]);
  }
  warps_run_ = 0;
  for (const int n : order) {
    const bool ends =
        (most_warps > 0 && warps_run_ >= most_warps) ||
        (enough > 0 && warps_run_ > 0 && work_of(counts_, *plan_.profile, width_, recorder != nullptr) > enough);
    if (ends) break;
    running_ = n;
    ++warps_run_;
    const Warp& w = warp_[static_cast<std::size_t>(n)];
    while (w.state == State::ready && (most_instructions == 0 || w.instructions < most_instructions))
      plan_.options.independent_threads ? step_independent(n) : step(n);
  }
}

void BlockRunner::run_together() {
  const auto has = [this](State wanted) {
    return std::any_of(warp_.begin(), warp_.end(), [&](const Warp& w) { return w.state == wanted; });
  };
  for (;;) {
    for (int n = 0; n < warps_; ++n) {
      Warp& w = warp_[static_cast<std::size_t>(n)];
      if (w.state == State::at_mbarrier && w.seen_changes != mbarriers_.changes()) w.state = State::ready;
      const double until = w.instructions + quantum;
      running_ = n;
      while (w.state == State::ready && w.instructions < until)
        plan_.options.independent_threads ? step_independent(n) : step(n);
    }
    if (has(State::ready)) continue;
    if (has(State::at_mbarrier)) {
      if (!all_stand() || end_waits()) continue;
      break;
    }
    if (!has(State::at_barrier)) break;
    release_barrier();
  }
}

/// All warps that are left wait, or are done: the phase ends.
void BlockRunner::release_barrier() {
  double longest = 0, sum = 0;
  bool waiting = false, stored = false, computed = false;
  for (Warp& w : warp_) {
    const double spent = w.instructions - w.phase_start;
    longest = std::max(longest, spent);
    sum += spent;
    w.phase_start = w.instructions;
    waiting = waiting || w.state == State::at_barrier;
    stored = stored || w.stored != 0;
    computed = computed || w.computed != 0;
    w.stored = w.computed = 0;
  }
  counts_.phase_longest += longest;
  counts_.phase_mean += sum / std::max(1, warps_run_);
  if (!waiting) return;
  if (plan_.options.independent_threads) {
    for (int n = 0; n < warps_; ++n) {
      Warp& w = warp_[static_cast<std::size_t>(n)];
      if (w.state == State::at_barrier && plan_.options.check_shared) check_barrier(w, n);
      begin_phase(w);
    }
  }
  if (recorder != nullptr) recorder->barrier();
  counts_.barriers += 1;
  if (stored && !computed) counts_.flat_barriers += 1;
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
  meetings_.clear();
  shared_.barrier();
  for (Warp& w : warp_)
    if (w.state == State::at_barrier) {
      w.state = State::ready;
      w.waiting = 0;
      w.order = 0;
    }
}

void BlockRunner::check_limits() {
  if (instruction_limit > 0 && counts_.warp_instructions > instruction_limit)
    throw LimitReached{"a block ran more warp instructions than " KC_SETTING(max_instructions) " allows"};
  if ((++steps_ & 1023U) != 0) return;
  if (interrupted()) throw LimitReached{"interrupted"};
  plan_.memory->check_time();
  if (work_limit == 0) return;
  const double work = work_of(counts_, *plan_.profile, width_, recorder != nullptr);
  const double all = work + work_of_updated_words(updates_.size());
  if (all > known_work_limit || (all > work_limit && plan_.memory->generated()))
    throw LimitReached{std::string(more_work_than_unasked)};
}

void BlockRunner::special(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  switch (i.op) {
    case Opcode::load:
      if (i.c != no_register) lanes &= ballot(w, i.c, lanes);
      if (lanes != 0) load(w, lanes, op, number);
      return;
    case Opcode::store:
      if (i.c != no_register) lanes &= ballot(w, i.c, lanes);
      if (lanes != 0) store(w, lanes, op, number);
      return;
    case Opcode::atomic:
      return atomic(w, lanes, op, number);
    case Opcode::barrier_arrive:
      meet_some(w, lanes, op, number, false);
      return;
    case Opcode::barrier:
      if (meet_some(w, lanes, op, number, true)) return;
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
      if (plan_.options.independent_threads) ++w.order;
      return shared_.warp_barrier(number);
    case Opcode::copy_group:
      return copy_group(i, lanes, number);
    case Opcode::bulk_read:
      return bulk_read(w, lanes, op, number);
    case Opcode::bulk_write:
      return bulk_write(w, lanes, op, number);
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

Finding* BlockRunner::count(Finding::Kind kind, SourceLine line, int number, int lane, int other) {
  Finding& f = findings_[{static_cast<int>(kind), {line.file, line.line}}];
  f.count += 1;
  if (f.count > 1) return nullptr;
  f.kind = kind;
  f.line = line;
  f.block = group_;
  f.thread = thread_of(number * width_ + lane);
  f.other_thread = thread_of(std::max(other, 0));
  return &f;
}

void BlockRunner::report(Finding::Kind kind, SourceLine line, std::string_view text, int number, int lane, int other) {
  if (Finding* f = count(kind, line, number, lane, other)) f->text = text;
}

std::vector<Finding> BlockRunner::take_findings() {
  std::vector<Finding> all;
  for (auto& [key, f] : findings_) all.push_back(std::move(f));
  findings_.clear();
  return all;
}

}  // namespace kernelcast::interpreter
