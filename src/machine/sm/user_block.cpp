// Idea: the profile does not hold a block's instructions, but how many of each class it has, how often a warp stops for
// a result of each class of latency and how many issue slots lie in between. The instructions are laid out evenly, so
// that the pipes see the mixture that they would see, and every stop gets a producer and a consumer at its distance.
// Loads that are waited for together stand together: that many are under way at a time.
//
// Where copies or products run beside the warps the profile has their order and that of barriers and matrix products:
// these stand at their places, and their own waits take the place of the profile's stops for them.
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
using Event = AsyncEvent::Kind;

/// Class of what waits for it, as the front end sorts instructions.
Latency latency_of(OpClass c) {
  switch (c) {
    case C::fp64_add:
    case C::fp64_mul:
    case C::fp64_fma:
    case C::fp64_div:
    case C::fp64_special:
    case C::fp64_compare:
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

/// Whether something can wait for its result.
bool answers(const Piece& p) {
  return p.op != Op::store_global && p.op != Op::store_shared && (p.op < Op::copy_async || p.op == Op::matrix) &&
         p.op != Op::nop;
}

std::size_t index(Latency l) { return static_cast<std::size_t>(l); }

class Layout {
 public:
  Layout(const kernelcast::Block& block, const std::vector<BlockAccess>& accesses, int branches, BlockAsync& parallel,
         Carries& carries)
      : block_(block),
        accesses_(accesses),
        branches_(branches),
        carries_(carries),
        parallel_(parallel),
        events_(has_events(block)) {
    for (std::size_t c = 0; c < latency_count; ++c) {
      double stops = block.stalls.waits[c];
      if (events_ && c == index(Latency::global)) stops = std::max(0.0, stops - count(Event::copy_wait));
      if (events_ && c == index(Latency::tensor)) stops = std::max(0.0, stops - count(Event::product_wait));
      // A branch that is decided late is the business of the SM's own branches.
      if (c == index(Latency::alu)) stops = std::max(0.0, stops - block.ops[C::control]);
      stops_[c] = carries.waits[c].take(stops);
    }
  }

  BlockCode run() {
    arithmetic();
    memory();
    if (events_)
      beside();
    else
      barriers();
    products();
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
      if (which == C::tensor || (which == C::async_copy && (events_ || has_copies()))) continue;
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
      if (a.space == space && a.kind == kind && a.copy == BlockAccess::Copy::none) n += a.count;
    return n;
  }

  [[nodiscard]] double count(Event kind) const {
    double n = 0;
    for (const AsyncEvent& e : block_.events)
      if (e.kind == kind) n += e.count;
    return n;
  }

  [[nodiscard]] bool has_copies() const {
    return std::ranges::any_of(accesses_, [](const BlockAccess& a) { return a.copy == BlockAccess::Copy::lanes; });
  }

  /// Places in the block of all events of a kind, each a little behind what stands before it.
  [[nodiscard]] std::vector<double> places(Event kind) const {
    std::vector<double> out;
    for (std::size_t e = 0; e < block_.events.size(); ++e)
      if (block_.events[e].kind == kind) {
        const auto n = static_cast<int>(block_.events[e].count + 0.5);
        for (int k = 0; k < n; ++k) out.push_back(place(e, n > 1 ? k / (n - 1.0) : 0));
      }
    return out;
  }
  /// Of a part of event `e`, 0 to 1 from its first to its last.
  [[nodiscard]] double place(std::size_t e, double part) const {
    const AsyncEvent& event = block_.events[e];
    const double slots = std::max(block_.ops.total(), 1.0);
    return std::clamp((event.first + (event.last - event.first) * part) / slots, 0.0, 0.999) +
           1e-9 * static_cast<double>(e + 1);
  }

  /// Instructions of a kind at the places of the events, or spread evenly where these are not known.
  template <class Put>
  static void spread(int n, const std::vector<double>& places, const Put& put) {
    for (int k = 0; k < n; ++k)
      put(places.empty() ? (k + 0.5) / n
                         : places[static_cast<std::size_t>(k) * places.size() / static_cast<std::size_t>(n)]);
  }

  void products() {
    const int all = carries_.ops[static_cast<std::size_t>(C::tensor)].take(block_.ops[C::tensor]);
    const double asynchronous = count(Event::product), known = asynchronous + count(Event::matrix);
    const int beside =
        known > 0 ? static_cast<int>(all * asynchronous / known + 0.5) : (parallel_.matrix.empty() ? all : 0);
    std::size_t next = 0;
    if (!parallel_.matrix.empty())
      spread(all - beside, places(Event::matrix), [&](double key) {
        add(Op::matrix, Latency::tensor, key);
        code_.pieces.back().product = parallel_.matrix[next++ % parallel_.matrix.size()];
      });
    if (parallel_.product.empty()) return;
    spread(beside, places(Event::product), [&](double key) {
      add(Op::matrix_async, Latency::tensor, key);
      code_.pieces.back().product = parallel_.product[next++ % parallel_.product.size()];
    });
    if (known > 0 || beside == 0) return;
    add(Op::matrix_commit, Latency::alu, 0.999);
    add(Op::matrix_wait, Latency::alu, 0.999);
  }

  /// Copies, commits, waits and barriers.
  void beside() {
    for (std::size_t e = 0; e < block_.events.size(); ++e) {
      const AsyncEvent& event = block_.events[e];
      const auto n = static_cast<int>(event.count + 0.5);
      const double key = place(e, 0);
      const auto put = [&](Op op, int mbarrier = -1) {
        for (int k = 0; k < n; ++k) {
          add(op, Latency::alu, n > 1 ? place(e, k / (n - 1.0)) : key);
          code_.pieces.back().open = std::max(event.open, 0);
          code_.pieces.back().mbarrier = mbarrier;
        }
      };
      switch (event.kind) {
        case Event::copy_wait:
          if (event.open < 0) add(Op::copy_commit, Latency::alu, key - 5e-10);
          put(Op::copy_wait);
          break;
        case Event::copy_commit:
          put(Op::copy_commit);
          break;
        case Event::product_commit:
          put(Op::matrix_commit);
          break;
        case Event::product_wait:
          put(Op::matrix_wait);
          break;
        case Event::barrier:
          put(Op::barrier);
          break;
        case Event::mbarrier_wait:
          if (parallel_.waited >= 0) put(Op::mbarrier_wait, parallel_.waited);
          break;
        case Event::arrive:
          if (parallel_.emptied >= 0) put(Op::arrive, parallel_.emptied);
          break;
        case Event::expect:
          parallel_.unarrived += n;
          arrive_behind(e);
          break;
        case Event::bulk:
          arrive_behind(e);
          break;
        default:
          break;
      }
    }
  }

  /// What mbarriers are told counts when the copies that follow are issued.
  void arrive_behind(std::size_t e) {
    const bool last = e + 1 == block_.events.size() ||
                      (block_.events[e + 1].kind != Event::bulk && block_.events[e + 1].kind != Event::expect);
    if (!last || count(Event::bulk) <= 0 || parallel_.filled < 0) return;
    for (; parallel_.unarrived > 0; --parallel_.unarrived) {
      add(Op::arrive, Latency::alu, place(e, 1) + 1e-10);
      code_.pieces.back().mbarrier = parallel_.filled;
    }
  }

  void copies() {
    using Copy = BlockAccess::Copy;
    for (const Copy kind : {Copy::lanes, Copy::bulk}) {
      std::vector<int> all;
      for (const BlockAccess& a : accesses_)
        if (a.copy == kind && a.kind == AccessKind::load)
          all.insert(all.end(), static_cast<std::size_t>(a.count), a.access);
      std::size_t next = 0;
      spread(static_cast<int>(all.size()), places(kind == Copy::lanes ? Event::copy : Event::bulk), [&](double key) {
        add(kind == Copy::lanes ? Op::copy_async : Op::copy_bulk, Latency::alu, key, all[next++]);
      });
    }
  }

  /// Place of the barrier behind which shared memory is read that was filled before it: the last one before the first
  /// product, else the first one.
  [[nodiscard]] double barrier_of_fill() const {
    const std::vector<double> barriers = places(Event::barrier), uses = places(Event::matrix);
    if (barriers.empty()) return 0;
    double at = barriers.front();
    if (!uses.empty())
      for (const double b : barriers)
        if (b < uses.front()) at = b;
    return at;
  }

  void memory() {
    copies();
    const int fill = count(MemorySpace::shared, AccessKind::store);
    int all = static_cast<int>(code_.pieces.size());
    for (const BlockAccess& a : accesses_) all += a.count;
    if (events_ && fill > 0) filled_ = barrier_of_fill();
    if (block_.barriers > 0 && fill > 0 && !events_)
      filled_ = std::clamp(2.0 * (count(MemorySpace::global, AccessKind::load) + fill) / std::max(all, 1), 0.05, 0.5);
    std::array<int, latency_count> loads{}, seen{};
    // Fragments are loaded right before the products that read them.
    const std::vector<double> fragments = places(Event::matrix), none;
    for (const BlockAccess& a : accesses_)
      if (a.kind != AccessKind::store && a.copy == BlockAccess::Copy::none) loads[index(memory_latency(a))] += a.count;
    int stores = 0, store = 0;
    for (const BlockAccess& a : accesses_)
      if (a.kind == AccessKind::store && a.space != MemorySpace::shared) stores += a.count;
    for (const BlockAccess& a : accesses_) {
      if (a.copy != BlockAccess::Copy::none) continue;
      const Latency latency = memory_latency(a);
      for (int k = 0; k < a.count; ++k) {
        double key = 0;
        if (a.kind != AccessKind::store) {
          const int n = loads[index(latency)], j = seen[index(latency)]++;
          const int stops = stops_[index(latency)];
          key = stops > 0 && stops < n ? std::floor(static_cast<double>(j) * stops / n) / stops : (j + 0.25) / n;
          const std::vector<double>& uses = latency == Latency::shared ? fragments : none;
          key = !uses.empty() ? uses[static_cast<std::size_t>(j) * uses.size() / static_cast<std::size_t>(n)] - 1e-7
                : latency == Latency::global ? key * (filled_ > 0 ? 0.8 * filled_ : 1)
                                             : filled_ + (1 - filled_) * key;
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
      if (code_.pieces[i].latency == latency && answers(code_.pieces[i])) producers.push_back(i);
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
  BlockAsync& parallel_;
  bool events_;
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
    case C::fp64_compare:
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
      return Op::matrix;
    case C::scalar_alu:
      return Op::scalar;
    case C::scalar_load:
      return Op::scalar_load;
    default:
      return Op::iadd;
  }
}

bool has_events(const kernelcast::Block& block) {
  return std::ranges::any_of(block.events, [](const AsyncEvent& e) { return e.kind != AsyncEvent::Kind::barrier; });
}

BlockCode block_code(const kernelcast::Block& block, const std::vector<BlockAccess>& accesses, int branches,
                     BlockAsync& parallel, Carries& carries) {
  return Layout(block, accesses, branches, parallel, carries).run();
}

}  // namespace kernelcast::sm
