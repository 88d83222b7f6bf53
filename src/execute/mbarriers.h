// The mbarriers of a block (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"): expected and
// pending arrivals, bytes that are still to come, and the phase. A phase is complete when nothing is pending and no
// bytes are missing; the next one begins at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "execute/shared_order.h"

namespace kernelcast::interpreter {

struct Mbarrier {
  int number = 0;  // in the order of first initialisation in the block
  std::int64_t expected = 0, pending = 0;
  std::int64_t bytes = 0;                  // to come; below 0 where copies complete before they are expected
  std::uint32_t phase = 0;                 // that is under way
  std::uint32_t earlier = 0;               // phases of those that were initialised here before
  Clock arrived, complete;                 // what threads had seen that arrived at this phase, and at the earlier ones
  std::uint32_t made_by = 0, made_at = 0;  // warp and its access, which others must have seen

  /// Phases at its place: those that were complete, and the one under way.
  [[nodiscard]] std::uint32_t phases() const { return earlier + phase; }
  /// The state that an arrival returns: the phase, and what was pending.
  [[nodiscard]] std::uint64_t state() const {
    return std::uint64_t{phase} << 32 | static_cast<std::uint64_t>(pending & 0xffffffff);
  }
  [[nodiscard]] bool completed_state(std::uint64_t state) const { return phase > state >> 32; }
  [[nodiscard]] bool completed_parity(std::uint64_t parity) const { return (phase & 1U) != (parity & 1U); }
};

class Mbarriers {
 public:
  void begin_block() {
    barriers_.clear();
    places_.clear();
    ++changes_;
  }
  /// Null: none is there.
  [[nodiscard]] Mbarrier* at(std::int64_t offset) {
    const auto found = barriers_.find(offset);
    return found == barriers_.end() ? nullptr : &found->second;
  }
  Mbarrier& make(std::int64_t offset, std::int64_t expected) {
    const auto place = places_.try_emplace(offset, Place{static_cast<int>(places_.size()), 0}).first;
    if (const auto old = barriers_.find(offset); old != barriers_.end())
      place->second.phases = old->second.phases() + 1;
    Mbarrier& m = barriers_[offset] = {};
    m.number = place->second.number;
    m.earlier = place->second.phases;
    m.expected = m.pending = expected;
    ++changes_;
    return m;
  }
  void invalidate(std::int64_t offset) {
    const auto old = barriers_.find(offset);
    if (old == barriers_.end()) return;
    places_[offset].phases = old->second.phases() + 1;
    barriers_.erase(old);
    ++changes_;
  }
  /// Arrivals and bytes from here on. False: more arrive than are expected.
  bool arrive(Mbarrier& m, std::int64_t count) {
    const bool good = count <= m.pending;
    m.pending -= count;
    if (!good) m.pending = 0;
    step(m);
    return good;
  }
  void expect(Mbarrier& m, std::int64_t bytes) { m.bytes += bytes; }
  void complete(Mbarrier& m, std::int64_t bytes) {
    m.bytes -= bytes;
    step(m);
  }
  /// Grows with whatever a waiting thread may wait for.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  /// Phases completed since the first block.
  [[nodiscard]] std::uint64_t phases() const { return phases_; }

 private:
  void step(Mbarrier& m) {
    ++changes_;
    if (m.pending > 0 || m.bytes != 0) return;
    m.complete.join(m.arrived);
    m.arrived.clear();
    ++m.phase;
    ++phases_;
    m.pending = m.expected;
  }

  struct Place {
    int number = 0;
    std::uint32_t phases = 0;  // begun there
  };
  std::map<std::int64_t, Mbarrier> barriers_;  // by offset in shared memory
  std::map<std::int64_t, Place> places_;       // likewise, of all that were ever there
  std::uint64_t changes_ = 0, phases_ = 0;
};

}  // namespace kernelcast::interpreter
