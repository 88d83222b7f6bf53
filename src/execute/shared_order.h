// What orders the accesses to shared memory in a block whose kernel copies asynchronously or has mbarriers: there, who
// has waited for what decides, and barriers of the whole block are not the only way.
//
// Each warp has a clock: up to which access of every warp, up to which copy of every thread and up to which phase of
// every mbarrier it has seen (vector clocks; Lamport 1978, Fidge 1988, Mattern 1989). A barrier joins the clocks of
// those who meet there; an mbarrier hands those of the threads that arrive to the threads that wait for the phase. An
// access is in order when the clock of its warp has come to the earlier one.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelcast::interpreter {

enum class SharedTrouble : std::uint8_t {
  none,
  uninitialised,
  race,
  copy_pending,    // a copy by cp.async that its thread has not waited for
  copy_unordered,  // its thread has waited for it, but nothing orders the two threads since
  bulk_pending,    // a copy in bulk to these bytes of whose mbarrier no completed phase has been seen
  read_pending,    // a write of what a copy in bulk may still read
};

/// Counts by component; all 0 at first.
class Clock {
 public:
  [[nodiscard]] std::uint32_t at(std::size_t component) const {
    return component < counts_.size() ? counts_[component] : 0;
  }
  void raise(std::size_t component, std::uint32_t to);
  void join(const Clock& other);
  void clear();

 private:
  std::vector<std::uint32_t> counts_;
  std::size_t first_ = 0, past_ = 0;  // components beside these are 0
};

class SharedOrder {
 public:
  /// `units`: parts of the shared memory that are watched.
  SharedOrder(std::int64_t units, int threads, int warp_size, bool independent_threads);
  /// Memory that it takes for each unit.
  static std::int64_t bytes_per_unit(int threads, int warp_size);

  void begin_block();
  void instruction() { ++stamp_; }
  void warp_barrier(int warp);
  void barrier();

  // Accesses to one unit, noted as they are checked; `other` is set to the other thread.
  SharedTrouble load(std::int64_t unit, int thread, int warp, int& other);
  SharedTrouble store(std::int64_t unit, int thread, int warp, bool& changes, int& other);
  SharedTrouble atomic(std::int64_t unit, int thread, int warp, int& other);
  /// A write by the latest copy of the thread, begin_copy().
  SharedTrouble copy(std::int64_t unit, int thread, int warp, bool& changes, int& other);

  // cp.async, of a thread. A group is complete when its thread has waited for it or for a later one.
  void begin_copy(int thread) { ++copies_[static_cast<std::size_t>(thread)].begun; }
  void commit_copies(int thread) { copies_[static_cast<std::size_t>(thread)].commit(); }
  /// All groups but the latest `left`.
  void wait_for_copies(int thread, std::uint64_t left);

  // What a warp has seen, for others who wait. `into` may also get the copies of a thread that it has not waited for,
  // where what waits does so for them.
  void release(int warp, Clock& into);
  void release_copies(int thread, Clock& into) const;
  void acquire(int warp, const Clock& from) {
    clocks_[static_cast<std::size_t>(warp)].join(from);
    if (independent_) ++sub_;  // lanes of one warp may wait for each other
  }
  /// Whether the warp has seen the access of another one.
  [[nodiscard]] bool seen_access(int warp, std::uint32_t of, std::uint32_t stamp) const {
    return of == static_cast<std::uint32_t>(warp) || seen(warp, of, stamp);
  }
  [[nodiscard]] std::uint32_t stamp() const { return stamp_; }

  // Copies in bulk. To shared memory: a write that is there for those who have seen the phase of an mbarrier complete.
  // From shared memory: a read until the thread has waited for the group.
  SharedTrouble bulk_write(std::int64_t unit, int thread, int warp, int mbarrier, std::uint32_t phase, int& other);
  SharedTrouble bulk_read(std::int64_t unit, int thread, int warp, int& other);
  void note_phase(Clock& clock, int mbarrier, std::uint32_t phases) const { clock.raise(phases_of(mbarrier), phases); }
  void begin_bulk(int thread) { ++bulk_[static_cast<std::size_t>(thread)].begun; }
  void commit_bulk(int thread) { bulk_[static_cast<std::size_t>(thread)].commit(); }
  void wait_for_bulk(int thread, std::uint64_t left);

 private:
  enum class Writer : std::uint8_t { plain, atomic, copy, bulk };
  static constexpr std::int16_t several = -2;
  struct Unit {
    std::uint32_t block = 0;  // in which it was written last
    std::uint32_t stamp = 0;  // of the write; of a copy its number in the thread; in bulk phases that must be complete
    std::uint32_t sub = 0;    // barriers of warps before it, where threads are independent
    std::int16_t thread = -1;
    std::uint16_t warp = 0;  // in bulk: the mbarrier
    Writer writer{};
    bool quiet = false;  // the write left the value as it was
  };
  struct Read {  // the last one by a warp
    std::uint32_t stamp = 0, sub = 0;
    std::int16_t thread = -1;
  };
  struct Copies {  // of a thread
    std::uint32_t begun = 0, done = 0;
    std::vector<std::uint32_t> groups;  // committed: begun at that time
    void commit() { groups.push_back(begun); }
    /// Whether something was waited for.
    bool wait(std::uint64_t left);
  };
  struct BulkRead {  // the last copy in bulk that reads a unit
    std::uint32_t block = 0, number = 0;
    std::int16_t thread = -1;
  };

  [[nodiscard]] bool seen(int warp, std::size_t component, std::uint32_t count) const {
    return met_.at(component) >= count || clocks_[static_cast<std::size_t>(warp)].at(component) >= count;
  }
  [[nodiscard]] std::size_t copies_of(int thread) const { return static_cast<std::size_t>(warps_ + thread); }
  [[nodiscard]] std::size_t bulk_of(int thread) const { return static_cast<std::size_t>(warps_ + threads_ + thread); }
  [[nodiscard]] std::size_t phases_of(int mbarrier) const {
    return static_cast<std::size_t>(warps_ + 2 * threads_ + mbarrier);
  }
  void show_copies(int warp);
  [[nodiscard]] bool written(const Unit& u) const { return u.block == block_; }
  [[nodiscard]] bool in_order(const Unit& u, int thread, int warp) const;
  [[nodiscard]] SharedTrouble trouble_with_write(const Unit& u, int thread, int warp) const;
  [[nodiscard]] SharedTrouble trouble_with_read(std::int64_t unit, int thread, int warp, int& other) const;
  SharedTrouble trouble_with_reads(std::int64_t unit, int thread, int warp, int& other) const;
  SharedTrouble write(std::int64_t unit, Writer as, int thread, int warp, bool& changes, int& other);

  int threads_, warp_size_, warps_;
  bool independent_;
  std::uint32_t block_ = 0, stamp_ = 1, first_stamp_ = 1, sub_ = 1;
  std::vector<Unit> units_;
  std::vector<Read> reads_;  // of each unit, by warp
  Clock met_;                // what all warps have seen
  std::vector<Clock> clocks_;
  std::vector<Copies> copies_, bulk_;  // of each thread
  std::vector<BulkRead> bulk_reads_;   // of each unit, once there is one
};

}  // namespace kernelcast::interpreter
