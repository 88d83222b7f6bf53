// Idea: the profile does not hold a block's instructions, but how many of each class it has, how often a warp stops for
// a result of each class of latency and how many issue slots lie in between. The instructions are laid out evenly, so
// that the pipes see the mixture that they would see, and every stop gets a producer and a consumer at its distance.
// Loads that are waited for together stand together: that many are under way at a time.
//
// Limits: the true order within a block is not known. In a block that fills shared memory before a barrier, loads from
// global memory, stores to shared memory and the barrier come first.
#include "machine/sm/user_block.h"

#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast::sm {
namespace {

using C = OpClass;

/// Class of what waits for it, as the front end sorts instructions.
Latency latency_of(OpClass c) {
  switch (c) {
    case C::fp64_add:
    case C::fp64_mul:
    case C::fp64_fma:
    case C::fp64_div:
    case C::fp64_special:
    case C::convert64:
      return Latency::fp64;
    case C::fp32_special:
    case C::fp32_div:
    case C::convert:
    case C::bit_special:
    case C::special_register:
      return Latency::special;
    case C::shuffle:
      return Latency::shared;
    case C::constant_load:
    case C::scalar_load:
      return Latency::constant;
    default:
      return Latency::alu;
  }
}

/// What the accesses hold.
bool counted_by_access(OpClass c) {
  switch (c) {
    case C::global_load:
    case C::global_store:
    case C::global_atomic:
    case C::shared_load:
    case C::shared_store:
    case C::shared_atomic:
    case C::local_load:
    case C::local_store:
    case C::texture_load:
    case C::barrier:
      return true;
    default:
      return false;
  }
}

Op memory_op(const BlockAccess& a) {
  if (a.space == MemorySpace::shared)
    return a.kind == AccessKind::load    ? Op::load_shared
           : a.kind == AccessKind::store ? Op::store_shared
                                         : Op::atomic_shared;
  return a.kind == AccessKind::load    ? Op::load_global
         : a.kind == AccessKind::store ? Op::store_global
                                       : Op::atomic_global;
}

Latency memory_latency(const BlockAccess& a) {
  if (a.space == MemorySpace::shared) return Latency::shared;
  return a.space == MemorySpace::local ? Latency::local : Latency::global;
}

bool answers(const Piece& p) { return p.op != Op::store_global && p.op != Op::store_shared; }

std::size_t index(Latency l) { return static_cast<std::size_t>(l); }

class Layout {
 public:
  Layout(const kernelcast::Block& block, const std::vector<BlockAccess>& accesses, int branches, Carries& carries)
      : block_(block), accesses_(accesses), branches_(branches), carries_(carries) {
    for (std::size_t c = 0; c < latency_count; ++c) {
      double stops = block.stalls.waits[c];
      // A branch that is decided late is the business of the SM's own branches.
      if (c == index(Latency::alu)) stops = std::max(0.0, stops - block.ops[C::control]);
      stops_[c] = carries.waits[c].take(stops);
    }
  }

  BlockCode run() {
    arithmetic();
    memory();
    barriers();
    std::ranges::stable_sort(code_.pieces, {}, &Piece::key);
    for (std::size_t c = 0; c < latency_count; ++c) waits(static_cast<Latency>(c));
    return std::move(code_);
  }

 private:
  void add(Op op, Latency latency, double key, int access = -1) { code_.pieces.push_back({op, latency, access, key}); }

  void arithmetic() {
    for (std::size_t c = 0; c < op_class_count; ++c) {
      const auto which = static_cast<OpClass>(c);
      if (counted_by_access(which) || which == C::dual_issued || block_.ops.n[c] <= 0) continue;
      int n = carries_.ops[c].take(block_.ops.n[c]);
      if (which == C::control) n = std::max(0, n - branches_);
      const Op op = op_of(which);
      // The last control instruction is the end of the block.
      for (int k = 0; k < n; ++k) add(op, latency_of(which), which == C::control && k + 1 == n ? 1.0 : (k + 0.5) / n);
    }
  }

  [[nodiscard]] int count(MemorySpace space, AccessKind kind) const {
    int n = 0;
    for (const BlockAccess& a : accesses_)
      if (a.space == space && a.kind == kind) n += a.count;
    return n;
  }

  void memory() {
    const int fill = count(MemorySpace::shared, AccessKind::store);
    int all = static_cast<int>(code_.pieces.size());
    for (const BlockAccess& a : accesses_) all += a.count;
    if (block_.barriers > 0 && fill > 0)
      filled_ = std::clamp(2.0 * (count(MemorySpace::global, AccessKind::load) + fill) / std::max(all, 1), 0.05, 0.5);
    std::array<int, latency_count> loads{}, seen{};
    for (const BlockAccess& a : accesses_)
      if (a.kind != AccessKind::store) loads[index(memory_latency(a))] += a.count;
    int stores = 0, store = 0;
    for (const BlockAccess& a : accesses_)
      if (a.kind == AccessKind::store && a.space != MemorySpace::shared) stores += a.count;
    for (const BlockAccess& a : accesses_) {
      const Latency latency = memory_latency(a);
      for (int k = 0; k < a.count; ++k) {
        double key = 0;
        if (a.kind != AccessKind::store) {
          const int n = loads[index(latency)], j = seen[index(latency)]++;
          const int stops = stops_[index(latency)];
          key = stops > 0 && stops < n ? std::floor(static_cast<double>(j) * stops / n) / stops : (j + 0.25) / n;
          key = latency == Latency::global ? key * (filled_ > 0 ? 0.8 * filled_ : 1) : filled_ + (1 - filled_) * key;
        } else if (a.space == MemorySpace::shared) {
          key = filled_ > 0 ? 0.99 * filled_ : 0.9;
        } else {
          key = (store++ + 0.75) / stores;
        }
        add(memory_op(a), latency, key, a.access);
      }
    }
  }

  void barriers() {
    for (int k = 0; k < block_.barriers; ++k) {
      double key = (k + 0.5) / block_.barriers;
      if (filled_ > 0) key = k == 0 ? filled_ : 0.999;
      add(Op::barrier, Latency::alu, key);
    }
  }

  void waits(Latency latency) {
    std::vector<std::size_t> producers;
    for (std::size_t i = 0; i < code_.pieces.size(); ++i)
      if (code_.pieces[i].latency == latency && answers(code_.pieces[i]) && code_.pieces[i].op != Op::barrier &&
          code_.pieces[i].op != Op::nop)
        producers.push_back(i);
    const auto n = producers.size();
    const auto stops = std::min(n, static_cast<std::size_t>(std::max(stops_[index(latency)], 0)));
    if (stops == 0) return;
    const double hidden = block_.stalls.waits[index(latency)] > 0
                              ? block_.stalls.hidden[index(latency)] / block_.stalls.waits[index(latency)]
                              : 0;
    const bool bunches = latency == Latency::global || latency == Latency::shared || latency == Latency::local;
    for (std::size_t s = 0; s < stops; ++s) {
      const std::size_t first = s * n / stops, last = (s + 1) * n / stops - 1;
      const double use = static_cast<double>(producers[last]) + 1 + std::max(0.0, std::floor(hidden + 0.5));
      // Those of a bunch are used one after the other, two an instruction.
      for (std::size_t k = bunches ? first : last; k <= last; ++k) {
        const std::size_t instructions = (last - k) / 2;
        code_.waits.push_back(
            {producers[k], use - static_cast<double>(producers[k]) + static_cast<double>(instructions)});
      }
    }
  }

  const kernelcast::Block& block_;
  const std::vector<BlockAccess>& accesses_;
  int branches_;
  Carries& carries_;
  std::array<int, latency_count> stops_{};
  double filled_ = 0;  // where the first barrier stands, when shared memory is filled before it
  BlockCode code_;
};

}  // namespace

Op op_of(OpClass c) {
  switch (c) {
    case C::fp16_add:
    case C::fp16_mul:
    case C::fp16_fma:
      return Op::hfma;
    case C::fp32_add:
      return Op::fadd;
    case C::fp32_mul:
      return Op::fmul;
    case C::fp32_fma:
    case C::fp32_div:
      return Op::ffma;
    case C::fp32_special:
      return Op::special;
    case C::fp64_add:
      return Op::dadd;
    case C::fp64_mul:
      return Op::dmul;
    case C::fp64_fma:
    case C::fp64_div:
    case C::fp64_special:
    case C::convert64:
      return Op::dfma;
    case C::int_mul:
    case C::int_mad:
    case C::int_div:
    case C::int64_mul:
    case C::int64_mad:
    case C::int64_div:
      return Op::imul;
    case C::shift:
      return Op::shift;
    case C::convert:
      return Op::convert;
    case C::move:
    case C::constant_load:  // an operand from the constant cache
    case C::special_register:
      return Op::move;
    case C::control:
    case C::fence:
      return Op::nop;
    case C::shuffle:
      return Op::load_shared;
    case C::async_copy:
      return Op::load_global;
    case C::tensor:
      throw LimitError("sm: the kernel has matrix instructions, whose pipe no SM spec describes; ask kernelcast");
    case C::scalar_alu:
      return Op::scalar;
    case C::scalar_load:
      return Op::scalar_load;
    default:
      return Op::iadd;
  }
}

BlockCode block_code(const kernelcast::Block& block, const std::vector<BlockAccess>& accesses, int branches,
                     Carries& carries) {
  return Layout(block, accesses, branches, carries).run();
}

}  // namespace kernelcast::sm
