// Who touched a word of global memory last: enough to see two threads use it with nothing between that orders them.
//
// One word of 64 bits stands for a unit of memory and keeps the last access, or that several threads of a warp, of a
// block or of the grid have read since the last write. A conflict is two accesses by different threads, at least one of
// them a plain write that changes the value, or one plain and one atomic. Between threads of one block a barrier
// orders, in lock-step also the order of instructions of a warp; between blocks nothing does, unless the later one has
// looked at a flag before (an atomic whose result it uses, a volatile read). What is forgotten, because one access is
// kept, are conflicts and never their absence: no false alarm comes of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace kernelcast::interpreter {

/// A thread as it stands: its block, its number in it, the barriers of the block so far, and what its warp has done
/// since the last one that orders its threads.
struct WatchedThread {
  std::uint32_t block = 0, thread = 0, phase = 0, order = 0;
  int warp_size = 32;
  bool looked_at_a_flag = false;  // the block has
};

enum class GlobalAccess : std::uint8_t { read, write, atomic };

/// The thread that a conflict is with; `found` false: there is none.
struct GlobalConflict {
  bool found = false, other_block = false;
  std::uint32_t block = 0, thread = 0;
};

class GlobalUnit {
 public:
  explicit GlobalUnit(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] std::uint64_t bits() const { return bits_; }

  /// Notes an access; `changes`: of a write, whether it leaves another value than was there.
  GlobalConflict note(GlobalAccess access, const WatchedThread& me, bool changes) {
    const Kind last = kind();
    GlobalConflict conflict;
    const bool writes = access == GlobalAccess::write;
    if (writes && !changes) return conflict;
    const bool clash = last != Kind::none && (access == GlobalAccess::read ? last == Kind::write || last == Kind::atomic
                                              : access == GlobalAccess::atomic ? last != Kind::atomic
                                                                               : true);
    if (clash && !ordered(me)) conflict = {true, last == Kind::read_grid || block() != mine(me), block(), thread()};
    if (access == GlobalAccess::read)
      note_read(last, me);
    else
      set(writes ? Kind::write : Kind::atomic, me);
    return conflict;
  }

 private:
  enum class Kind : std::uint8_t { none, write, atomic, read, read_warp, read_block, read_grid };
  // Counts that have run over stay at their top and order whatever comes then. Blocks that share a number differ
  // anyway.
  static constexpr unsigned kind_at = 61, order_at = 50, phase_at = 36, thread_at = 24;
  static constexpr std::uint32_t most_order = 0x7ff, most_phase = 0x3fff, block_mask = 0xffffff;

  static std::uint32_t mine(const WatchedThread& me) { return me.block & block_mask; }
  [[nodiscard]] Kind kind() const { return static_cast<Kind>(bits_ >> kind_at); }
  [[nodiscard]] std::uint32_t order() const { return static_cast<std::uint32_t>(bits_ >> order_at & most_order); }
  [[nodiscard]] std::uint32_t phase() const { return static_cast<std::uint32_t>(bits_ >> phase_at & most_phase); }
  [[nodiscard]] std::uint32_t thread() const { return static_cast<std::uint32_t>(bits_ >> thread_at & 0xfffU); }
  [[nodiscard]] std::uint32_t block() const { return static_cast<std::uint32_t>(bits_ & block_mask); }

  [[nodiscard]] bool in_warp(const WatchedThread& me) const {
    const auto width = static_cast<std::uint32_t>(me.warp_size);
    return (thread() & 0xfffU) / width == (me.thread & 0xfffU) / width;
  }

  [[nodiscard]] bool same_phase(const WatchedThread& me) const { return phase() < most_phase && phase() == me.phase; }

  [[nodiscard]] bool ordered(const WatchedThread& me) const {
    const Kind k = kind();
    if (k == Kind::read_grid || block() != mine(me)) return me.looked_at_a_flag;
    if (!same_phase(me)) return true;
    if (k == Kind::read_block) return false;
    if (k != Kind::read_warp && thread() == (me.thread & 0xfffU)) return true;
    return in_warp(me) && (order() == most_order || order() != me.order);
  }

  void note_read(Kind last, const WatchedThread& me) {
    const bool read_before = last == Kind::read || last == Kind::read_warp || last == Kind::read_block;
    if (last == Kind::read_grid) return;
    if (!read_before) return set(Kind::read, me);
    if (block() != mine(me)) return set(Kind::read_grid, me);
    if (!same_phase(me)) return set(Kind::read, me);
    if (last == Kind::read_block) return;
    if (!in_warp(me)) return set(Kind::read_block, me);
    set(last == Kind::read && thread() == (me.thread & 0xfffU) ? Kind::read : Kind::read_warp, me);
  }

  void set(Kind k, const WatchedThread& me) {
    bits_ = static_cast<std::uint64_t>(k) << kind_at |
            static_cast<std::uint64_t>(std::min(me.order, most_order)) << order_at |
            static_cast<std::uint64_t>(std::min(me.phase, most_phase)) << phase_at |
            static_cast<std::uint64_t>(me.thread & 0xfffU) << thread_at | mine(me);
  }

  std::uint64_t bits_;
};

}  // namespace kernelcast::interpreter
